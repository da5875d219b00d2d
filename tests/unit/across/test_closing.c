/*
 * test_closing.c - close or destroy a stream while a task is in a call. The tests cover
 * every call that can wait, every kind of stream, and every moment of a handshake.
 *
 * Closing ends the calls with -EBADF. The calls must not touch freed memory, which the
 * sanitizers would detect. Similar tests for datagrams, files and processes are in the
 * folders of those objects.
 */
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <coil.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* More bytes than a connection or pipe can hold. */
#define HUGE ((size_t)(test_simulated() ? 1 : 24) * 1024 * 1024)

/* ---- calls ------------------------------------------------------------------------- */

struct visit {
    ssize_t (*call)(struct visit *visit);
    coil_stream *stream;
    char *bytes; /* HUGE bytes to write */
    int file;    /* a file of HUGE zeros */
    ssize_t result;
};

static ssize_t call_read(struct visit *v)
{
    char buf[100];

    return coil_read(v->stream, buf, sizeof buf);
}

static ssize_t call_read_exact(struct visit *v)
{
    char buf[100];

    return coil_read_exact(v->stream, buf, sizeof buf);
}

static ssize_t call_read_line(struct visit *v)
{
    char line[100];

    return coil_read_line(v->stream, line, sizeof line);
}

static ssize_t call_read_until(struct visit *v)
{
    char buf[100];

    return coil_read_until(v->stream, "--", 2, buf, sizeof buf);
}

static ssize_t call_peek(struct visit *v)
{
    const void *data;

    return coil_peek(v->stream, &data, 100);
}

static ssize_t call_write(struct visit *v)
{
    return coil_write(v->stream, v->bytes, HUGE);
}

static ssize_t call_writev(struct visit *v)
{
    struct iovec parts[] = {{v->bytes, HUGE / 2}, {v->bytes, HUGE / 2}};

    return coil_writev(v->stream, parts, 2);
}

static ssize_t call_sendfile(struct visit *v)
{
    int64_t offset = 0;

    return coil_sendfile(v->stream, v->file, &offset, SIZE_MAX);
}

static int visit_stream(void *arg)
{
    struct visit *v = arg;

    v->result = v->call(v);
    return 0;
}

static coil_task *start(struct visit *v)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(visit_stream, v, NULL, &task), 0);
    return task;
}

/* ---- every call, on a stream of each kind ------------------------------------------ */

/* Open two ends. The test closes ends[0]. */
typedef void open_ends(coil_stream *ends[2]);

/*
 * Close or destroy the ends while the reader and the writer are in their calls. If
 * `begun`, some bytes have arrived before, so the read has made progress.
 */
static void close_in(open_ends *open, struct visit *reader, struct visit *writer,
                     bool destroys, bool begun)
{
    coil_stream *ends[2];
    coil_task *tasks[2];

    open(ends);
    if (begun && reader->call != call_read)
        CHECK_INT(coil_write(ends[1], "begun", 5), 5);
    reader->stream = writer->stream = ends[0];
    tasks[0] = start(reader);
    tasks[1] = start(writer);
    settle();
    CHECK(!coil_future_done(coil_task_future(tasks[0])));
    CHECK(!coil_future_done(coil_task_future(tasks[1])));
    if (destroys)
        coil_stream_destroy(ends[0]);
    else
        CHECK_INT(coil_stream_close(ends[0]), 0);
    finish(tasks[0]);
    finish(tasks[1]);
    CHECK_INT(reader->result, -EBADF);
    CHECK_INT(writer->result, -EBADF);
    if (!destroys) {
        CHECK(coil_stream_write_transferred(ends[0]) < HUGE);
        CHECK_INT(reader->call(reader), -EBADF);
        coil_stream_destroy(ends[0]);
    }
    coil_stream_destroy(ends[1]);
}

static void close_in_each_call(open_ends *open)
{
    static ssize_t (*const reads[])(struct visit *) = {
        call_read, call_read_exact, call_read_line, call_read_until, call_peek};
    static ssize_t (*const writes[])(struct visit *) = {call_write, call_writev,
                                                        call_sendfile};
    struct visit reader = {.call = NULL}, writer = {.bytes = calloc(1, HUGE)};

    writer.file = memfd_create("closing", MFD_CLOEXEC);
    CHECK_INT(ftruncate(writer.file, (off_t)HUGE), 0);
    for (unsigned i = 0; i < 2 * COUNT(reads); i++) {
        reader.call = reads[i % COUNT(reads)];
        writer.call = writes[i % COUNT(writes)];
        close_in(open, &reader, &writer, i >= COUNT(reads), i % 2 == 0);
    }
    close(writer.file);
    free(writer.bytes);
}

NET_TEST(stream_closed_in_each_call)
{
    close_in_each_call(connect_streams);
}

static void open_pair(coil_stream *ends[2])
{
    CHECK_INT(coil_stream_pair(ends), 0);
}

IO_TEST(stream_closed_in_each_call_of_a_local_one)
{
    close_in_each_call(open_pair);
}

/* Close one end of a pipe during a call that reads from it or writes to it. */
IO_TEST(pipe_closed_in_each_call)
{
    static ssize_t (*const writes[])(struct visit *) = {call_write, call_writev,
                                                        call_sendfile};
    struct visit v = {.bytes = calloc(1, HUGE)};
    coil_stream *ends[2];

    v.file = memfd_create("closing", MFD_CLOEXEC);
    CHECK_INT(ftruncate(v.file, (off_t)HUGE), 0);
    for (unsigned i = 0; i < 4 * COUNT(writes); i++) {
        bool reads = i % 2 == 0, destroys = i / 2 % 2 == 0;
        coil_task *task;

        CHECK_INT(coil_pipe(ends), 0);
        v.call = reads ? call_read_line : writes[i / 4];
        v.stream = ends[!reads];
        task = start(&v);
        settle();
        if (!destroys)
            coil_stream_close(v.stream);
        else
            coil_stream_destroy(v.stream);
        finish(task);
        CHECK_INT(v.result, -EBADF);
        if (!destroys)
            coil_stream_destroy(v.stream);
        coil_stream_destroy(ends[reads]);
    }
    close(v.file);
    free(v.bytes);
}

/* ---- closing and other events at once ---------------------------------------------- */

/*
 * If the bytes arrive in the turn in which the stream is closed, the call may return
 * either the bytes or the error.
 */
NET_TEST(stream_closed_as_its_bytes_come)
{
    for (int i = 0; i < 20; i++) {
        struct visit v = {.call = i % 2 == 0 ? call_read : call_read_line};
        coil_stream *ends[2];
        coil_task *task;

        connect_streams(ends);
        v.stream = ends[0];
        task = start(&v);
        settle();
        CHECK_INT(coil_write(ends[1], "12345\n", 6), 6);
        for (int turns = 0; turns < i / 4; turns++)
            coil_yield();
        coil_stream_destroy(ends[0]);
        finish(task);
        CHECK(v.result == -EBADF || v.result == 6 || v.result == 5);
        coil_stream_destroy(ends[1]);
    }
}

/* Cancel a task and destroy its stream in the same turn, in either order. */
NET_TEST(stream_destroyed_under_a_task_that_is_cancelled)
{
    for (int i = 0; i < 4; i++) {
        struct visit v = {.call = i % 2 == 0 ? call_read_exact : call_write,
                          .bytes = calloc(1, HUGE)};
        coil_stream *ends[2];
        coil_task *task;

        connect_streams(ends);
        v.stream = ends[0];
        task = start(&v);
        settle();
        if (i < 2)
            coil_task_cancel(task, NULL);
        coil_stream_destroy(ends[0]);
        if (i >= 2)
            coil_task_cancel(task, NULL);
        finish_cancelled(task);
        CHECK(v.result == -EBADF || v.result == -ECANCELED);
        coil_stream_destroy(ends[1]);
        free(v.bytes);
    }
}

/*
 * Connect while the listener is being destroyed: the connection may be refused, reset or
 * established.
 */
static int connect_once(void *arg)
{
    coil_stream *stream;
    int rc = coil_connect("127.0.0.1", arg, &stream);

    if (rc == 0)
        coil_stream_destroy(stream);
    return rc;
}

NET_TEST(listener_destroyed_while_it_is_connected_to)
{
    for (int i = 0; i < 8; i++) {
        coil_listener *listener;
        coil_task *task;
        char port[16];
        int rc;

        CHECK_INT(coil_listen("127.0.0.1", "0", 0, &listener), 0);
        snprintf(port, sizeof port, "%u", coil_listener_port(listener));
        CHECK_INT(coil_spawn(connect_once, port, NULL, &task), 0);
        if (test_simulated())
            coil_sleep(COIL_MSEC(5 * i));
        for (int turns = 0; turns < i; turns++)
            coil_yield();
        coil_listener_destroy(listener);
        rc = coil_task_await(task);
        CHECK(rc == 0 || rc == -ECONNREFUSED || rc == -ECONNRESET);
        coil_task_release(task);
    }
}

/*
 * Connect to a listener with a full backlog. The call waits until the listener is
 * destroyed.
 */
static int connect_to_path(void *arg)
{
    coil_stream *stream;
    int rc = coil_connect_unix(arg, &stream);

    if (rc == 0)
        coil_stream_destroy(stream);
    return rc;
}

IO_TEST(local_listener_destroyed_while_one_waits_for_room)
{
    coil_stream *waiting[2];
    coil_listener *listener;
    coil_task *task;
    char name[32];

    snprintf(name, sizeof name, "@coil-closing-%d", (int)getpid());
    CHECK_INT(coil_listen_unix(name, 1, &listener), 0);
    CHECK_INT(coil_connect_unix(name, &waiting[0]), 0);
    CHECK_INT(coil_connect_unix(name, &waiting[1]), 0);
    CHECK_INT(coil_spawn(connect_to_path, name, NULL, &task), 0);
    settle();
    CHECK(!coil_future_done(coil_task_future(task)));
    coil_listener_destroy(listener);
    CHECK_INT(coil_task_await(task), -ECONNREFUSED);
    coil_task_release(task);
    destroy_streams(waiting);
}

/* ---- sending a file into a stream -------------------------------------------------- */

/*
 * Destroy the stream at various moments, some of them while a piece of the file is being
 * read.
 */
IO_TEST(sendfile_closed_at_every_moment)
{
    for (int i = 0; i < 12; i++) {
        struct visit v = {.call = call_sendfile,
                          .file = memfd_create("closing", MFD_CLOEXEC)};
        coil_stream *ends[2];
        coil_task *task;

        CHECK_INT(ftruncate(v.file, 4 << 20), 0);
        CHECK_INT(i % 2 == 0 ? coil_pipe(ends) : coil_stream_pair(ends), 0);
        v.stream = ends[1];
        task = start(&v);
        for (int turns = 0; turns <= i; turns++)
            coil_yield();
        coil_stream_destroy(ends[1]);
        finish(task);
        CHECK_INT(v.result, -EBADF);
        coil_stream_destroy(ends[0]);
        close(v.file);
    }
}
