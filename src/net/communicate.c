/*
 * communicate.c - write to a child, read what it writes, wait for it.
 *
 * All at a time, since a child may stop reading until it is read from: up to three jobs,
 * of which this task does the last and a group the others. With one pipe, the common
 * case, there is no group.
 *
 * A job does not look at its stream once that has failed: it may be destroyed by then.
 */
#include "process.h"

#include "../base/base.h"

#include <coil/group.h>

#include <string.h>

#define READ_BYTES ((size_t)4096)

struct job {
    coil_stream *stream;
    const void *input; /* to be written; else it is read */
    size_t n;
    coil_output *output; /* NULL: thrown away */
    size_t limit;
};

static int feed(const struct job *job)
{
    ssize_t rc = job->n > 0 ? coil_write(job->stream, job->input, job->n) : 0;

    /* It need not read what it is given: not a failure of ours. */
    if (rc < 0 && rc != -EPIPE && rc != -ECONNRESET)
        return (int)rc;
    coil_stream_close(job->stream);
    return 0;
}

/* Room for some bytes more, and for the '\0' behind them. */
static int make_room(coil_output *output)
{
    size_t capacity = output->capacity > 0 ? 2 * output->capacity : READ_BYTES;
    char *data;

    if (output->capacity - output->size > READ_BYTES / 2)
        return 0;
    data = coil__realloc(output->data, capacity);
    if (data == NULL)
        return -ENOMEM;
    output->data = data;
    output->capacity = capacity;
    return 0;
}

/* One byte more than the limit is asked for, to see whether it is exceeded. */
static ssize_t read_some(const struct job *job)
{
    coil_output *output = job->output;
    size_t left = job->limit > output->size ? job->limit - output->size : 0;
    ssize_t n = make_room(output);
    size_t room = output->capacity - output->size - 1;

    if (n < 0)
        return n;
    if (job->limit > 0 && room > left)
        room = left + 1;
    n = coil_read(job->stream, output->data + output->size, room);
    if (n > 0)
        output->size += (size_t)n;
    output->data[output->size] = '\0';
    return n;
}

static ssize_t read_all(const struct job *job)
{
    ssize_t n;

    do
        n = read_some(job);
    while (n > 0 && (job->limit == 0 || job->output->size <= job->limit));
    if (n > 0) {
        job->output->size = job->limit;
        job->output->data[job->limit] = '\0';
    }
    return n > 0 ? -EMSGSIZE : n;
}

static ssize_t throw_away(const struct job *job)
{
    char unseen[READ_BYTES];
    ssize_t n;

    do
        n = coil_read(job->stream, unseen, sizeof unseen);
    while (n > 0);
    return n;
}

static int drain(const struct job *job)
{
    ssize_t rc = job->output != NULL ? read_all(job) : throw_away(job);

    if (rc == 0 || rc == -EMSGSIZE)
        coil_stream_close(job->stream);
    return (int)rc;
}

static int do_job(void *arg)
{
    const struct job *job = arg;

    return job->input != NULL ? feed(job) : drain(job);
}

static int do_jobs(struct job *jobs, size_t count)
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

int coil_process_communicate(coil_process *process, const void *input, size_t n,
                             coil_output *out, coil_output *err, size_t limit)
{
    struct job jobs[3];
    size_t count = 0;
    int rc;

    if (is_open(coil_process_stdin(process)))
        jobs[count++] = (struct job){.stream = coil_process_stdin(process),
                                     .input = input != NULL ? input : "",
                                     .n = input != NULL ? n : 0};
    if (is_open(coil_process_stderr(process)))
        jobs[count++] = (struct job){
            .stream = coil_process_stderr(process), .output = err, .limit = limit};
    if (is_open(coil_process_stdout(process)))
        jobs[count++] = (struct job){
            .stream = coil_process_stdout(process), .output = out, .limit = limit};
    coil__process_enter(process);
    rc = do_jobs(jobs, count);
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
