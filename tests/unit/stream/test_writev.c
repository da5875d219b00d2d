/*
 * test_writev.c - writing from several buffers at once.
 */
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

struct reading {
    coil_stream *stream;
    unsigned char *bytes;
    size_t size, count;
};

static int read_all(void *arg)
{
    struct reading *r = arg;
    ssize_t n;

    while ((n = coil_read(r->stream, r->bytes + r->count, r->size - r->count)) > 0)
        r->count += (size_t)n;
    return (int)n;
}

NET_TEST(writev_of_parts_some_of_them_empty)
{
    struct iovec parts[] = {{NULL, 0}, {"one ", 4}, {"", 0}, {"two ", 4}, {"three", 5}};
    coil_stream *ends[2];
    char buf[32];

    connect_streams(ends);
    CHECK_INT(coil_writev(ends[0], parts, 5), 13);
    CHECK_INT(coil_stream_write_transferred(ends[0]), 13);
    CHECK_INT(coil_read_exact(ends[1], buf, 13), 13);
    CHECK(memcmp(buf, "one two three", 13) == 0);
    CHECK_INT(coil_writev(ends[0], parts, 1), 0);
    CHECK_INT(coil_writev(ends[0], parts, 0), 0);
    CHECK_INT(coil_writev(ends[0], NULL, 0), 0);
    CHECK_INT(coil_writev(ends[0], parts, -1), -EINVAL);
    parts[3].iov_len = SSIZE_MAX;
    CHECK_INT(coil_writev(ends[0], parts, 5), -EINVAL);
    coil_stream_close(ends[0]);
    CHECK_INT(coil_writev(ends[0], parts, 2), -EBADF);
    destroy_streams(ends);
}

/*
 * Write buffers of various sizes: more buffers than writev(2) accepts in one call, and
 * more bytes than fit into the socket's buffer.
 */
static void write_very_many(coil_stream *ends[2])
{
    enum { COUNT = 3 * IOV_MAX };
    struct iovec *parts = malloc(COUNT * sizeof *parts);
    size_t total = 0;
    unsigned char *bytes, *got;
    struct reading r = {.stream = ends[1]};
    coil_task *reader;

    for (int i = 0; i < COUNT; i++)
        total += parts[i].iov_len = (size_t)(i % 7 == 0 ? 0 : i * 37 % 4001);
    bytes = malloc(total);
    got = malloc(total + 1);
    for (size_t i = 0, at = 0; i < COUNT; at += parts[i++].iov_len)
        parts[i].iov_base = bytes + at;
    for (size_t i = 0; i < total; i++)
        bytes[i] = pattern_byte(i);
    r.bytes = got, r.size = total + 1;
    CHECK_INT(coil_spawn(read_all, &r, NULL, &reader), 0);
    CHECK_INT(coil_writev(ends[0], parts, COUNT), total);
    CHECK_INT(coil_stream_write_transferred(ends[0]), total);
    coil_stream_destroy(ends[0]);
    CHECK_INT(coil_task_await(reader), 0);
    coil_task_release(reader);
    CHECK_INT(r.count, total);
    CHECK(memcmp(bytes, got, total) == 0);
    coil_stream_destroy(ends[1]);
    free(got);
    free(bytes);
    free(parts);
}

NET_TEST(writev_of_very_many_parts)
{
    coil_stream *ends[2];

    connect_streams(ends);
    write_very_many(ends);
}

IO_TEST(writev_to_a_pipe)
{
    coil_stream *ends[2], *turned[2];

    CHECK_INT(coil_pipe(ends), 0);
    turned[0] = ends[1], turned[1] = ends[0];
    write_very_many(turned);
}

struct writing {
    coil_stream *stream;
    struct iovec parts[3];
    ssize_t result;
};

static int do_writev(void *arg)
{
    struct writing *w = arg;

    w->result = coil_writev(w->stream, w->parts, 3);
    return 0;
}

IO_TEST(writev_cancelled_tells_how_far_it_came)
{
    size_t n = (size_t)8 * 1024 * 1024;
    char *large = calloc(1, n);
    coil_stream *ends[2];
    struct writing w = {.parts = {{"begin", 5}, {large, n}, {"end", 3}}};
    struct reading r;
    coil_task *task;
    size_t sent;

    make_stream_pair(ends);
    w.stream = ends[0];
    CHECK_INT(coil_spawn(do_writev, &w, NULL, &task), 0);
    settle();
    CHECK_INT(coil_writev(ends[0], w.parts, 1), -EBUSY);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
    CHECK_INT(w.result, -ECANCELED);
    sent = coil_stream_write_transferred(ends[0]);
    CHECK(sent > 5 && sent < n);
    coil_stream_destroy(ends[0]);
    r = (struct reading){ends[1], (unsigned char *)large, n, 0};
    CHECK_INT(read_all(&r), 0);
    CHECK_INT(r.count, sent);
    coil_stream_destroy(ends[1]);
    free(large);
}
