/*
 * communicate.c - writes a child's input, reads its output, and waits until the child
 * ends.
 *
 * All pipes are served concurrently: a child may stop reading its input until its output
 * is read. Each open pipe is a job, and a terminal is two jobs. The calling task does the
 * last job, and a group of tasks does the others. In the common case there is only one
 * pipe, and no group is needed.
 *
 * After a failure a job does not use its stream again, because the stream may have been
 * destroyed.
 */
#include "process.h"
#include "../stream/stream.h"

#include "../base/base.h"

#include <coil/group.h>

#include <string.h>

#define READ_BYTES ((size_t)4096)

struct pipe_job {
    coil_stream *stream;
    const void *input; /* bytes to write to `stream`, or NULL to read it */
    size_t n;
    coil_output *output; /* NULL: discard the output */
    size_t limit;
    bool is_terminal; /* another job uses the stream's other direction */
};

static int write_input(const struct pipe_job *job)
{
    ssize_t rc = job->n > 0 ? coil_write(job->stream, job->input, job->n) : 0;

    /*
     * If the child has closed its input without reading all of it, the failed write is
     * not an error.
     */
    if (rc < 0 && rc != -EPIPE && rc != -ECONNRESET)
        return (int)rc;
    if (!job->is_terminal)
        coil_stream_close(job->stream);
    return 0;
}

/*
 * Make sure that at least half of READ_BYTES is free, including room for the '\0' at the
 * end.
 */
static int make_room_for_output(coil_output *output)
{
    size_t capacity = output->capacity > 0 ? 2 * output->capacity : READ_BYTES;
    char *data;

    if (output->capacity - output->size > READ_BYTES / 2)
        return 0;
    data = coil__realloc(output->data, capacity);
    if (data == NULL)
        return coil__failed(-ENOMEM);
    output->data = data;
    output->capacity = capacity;
    return 0;
}

static ssize_t read_output(const struct pipe_job *job)
{
    coil_output *output = job->output;
    ssize_t n = make_room_for_output(output);
    size_t room = output->capacity - output->size - 1;

    if (n < 0)
        return n;
    if (job->limit > 0 && room > job->limit - output->size)
        room = job->limit - output->size;
    n = coil_read(job->stream, output->data + output->size, room);
    if (n > 0)
        output->size += (size_t)n;
    output->data[output->size] = '\0';
    return n;
}

/* Check that the output ends here. Returns 0, or -EMSGSIZE if there is more. */
static ssize_t check_end(const struct pipe_job *job)
{
    const void *data;
    ssize_t n = coil_peek(job->stream, &data, 1);

    return n > 0 ? coil__failed(-EMSGSIZE) : n;
}

static ssize_t read_all(const struct pipe_job *job)
{
    ssize_t n;

    do {
        if (job->limit > 0 && job->output->size >= job->limit)
            return check_end(job);
        n = read_output(job);
    } while (n > 0);
    return n;
}

static ssize_t discard_output(const struct pipe_job *job)
{
    char discarded[READ_BYTES];
    ssize_t n;

    do
        n = coil_read(job->stream, discarded, sizeof discarded);
    while (n > 0);
    return n;
}

static int drain(const struct pipe_job *job)
{
    ssize_t rc = job->output != NULL ? read_all(job) : discard_output(job);

    if (!job->is_terminal && (rc == 0 || rc == -EMSGSIZE))
        coil_stream_close(job->stream);
    return (int)rc;
}

static int do_job(void *arg)
{
    const struct pipe_job *job = arg;

    return job->input != NULL ? write_input(job) : drain(job);
}

static int do_jobs(struct pipe_job *jobs, size_t count)
{
    static const coil_spawn_opts opts = {.name = "communicate"};
    coil_group group;
    int rc = 0;

    if (count == 0)
        return 0;
    if (count == 1)
        return do_job(&jobs[0]);
    coil_group_enter(&group);
    for (size_t i = 0; i + 1 < count && rc == 0; i++)
        rc = coil_group_spawn(&group, do_job, &jobs[i], &opts, NULL);
    if (rc == 0)
        rc = do_job(&jobs[count - 1]);
    return coil_group_exit(&group, rc);
}

static bool is_open(const coil_stream *stream)
{
    return stream != NULL && coil_stream_fd(stream) >= 0;
}

/*
 * Add the jobs for the child's streams, at most MOST_JOBS. A terminal replaces the pipes
 * that the child does not have. If stdout is a pipe, the terminal's output is discarded.
 */
#define MOST_JOBS 4

static size_t list_jobs(struct pipe_job *jobs, const coil_process *process,
                        const struct pipe_job *feeding, coil_output *out,
                        coil_output *err, size_t limit)
{
    coil_stream *terminal = coil_process_terminal(process);
    coil_stream *pipes[2] = {coil_process_stderr(process), coil_process_stdout(process)};
    coil_output *outputs[2] = {err, out};
    size_t count = 0;

    if (is_open(feeding->stream))
        jobs[count++] = *feeding;
    if (is_open(terminal))
        jobs[count++] = (struct pipe_job){.stream = terminal,
                                          .output = pipes[1] == NULL ? out : NULL,
                                          .limit = limit,
                                          .is_terminal = true};
    for (int i = 0; i < 2; i++)
        if (is_open(pipes[i]))
            jobs[count++] = (struct pipe_job){
                .stream = pipes[i], .output = outputs[i], .limit = limit};
    return count;
}

int coil_process_communicate(coil_process *process, const void *input, size_t n,
                             coil_output *out, coil_output *err, size_t limit)
{
    COIL__REQUIRE(process, "a process");
    coil_stream *in = coil_process_stdin(process);
    bool is_terminal = in == NULL && coil_process_terminal(process) != NULL;
    struct pipe_job jobs[MOST_JOBS], feeding;
    int rc;

    if (is_terminal)
        in = coil_process_terminal(process);
    /*
     * Set the count of transferred bytes to 0, because this call may fail before its
     * writer starts.
     */
    if (in != NULL)
        coil__stream_refuse(in, COIL__OUT, 0);
    feeding = (struct pipe_job){.stream = in,
                                .input = input != NULL ? input : "",
                                .n = input != NULL ? n : 0,
                                .is_terminal = is_terminal};
    coil__process_enter(process);
    rc = do_jobs(jobs, list_jobs(jobs, process, &feeding, out, err, limit));
    if (rc == 0)
        rc = coil_process_wait(process);
    coil__process_leave(process);
    return rc;
}

void coil_output_finish(coil_output *output)
{
    if (output == NULL)
        return;
    coil__free(output->data);
    *output = (coil_output){.data = NULL};
}
