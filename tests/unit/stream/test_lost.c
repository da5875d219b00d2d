/*
 * test_lost.c - if a connection is lost, its reader and its writer both get an error.
 *
 * The kernel reports the error only once. After the writer has got the error, a read
 * would return a normal end of stream, but coil__descriptor_result() prevents this.
 */
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char much[1 << 20];

static int write_until_it_fails(void *arg)
{
    ssize_t n;

    do
        n = coil_write(arg, much, sizeof much);
    while (n > 0);
    return (int)n;
}

static int read_once(void *arg)
{
    char byte;

    return (int)coil_read(arg, &byte, 1);
}

static int wait_and_read(void *arg)
{
    int rc = coil_stream_wait_readable(arg);

    return rc < 0 ? rc : read_once(arg);
}

/*
 * Wait until the stream is readable, yield, and read. When the wait ends, the writer's
 * operation has already failed, but its task may not have run yet.
 */
static int wait_yield_and_read(void *arg)
{
    int rc = coil_stream_wait_readable(arg);

    if (rc == 0)
        rc = coil_yield();
    return rc < 0 ? rc : read_once(arg);
}

static int read_line(void *arg)
{
    char line[16];

    return (int)coil_read_line(arg, line, sizeof line);
}

static int read_exactly(void *arg)
{
    char bytes[16];

    return (int)coil_read_exact(arg, bytes, sizeof bytes);
}

static int copy_to_nowhere(void *arg)
{
    coil_stream *ends[2];
    int rc;

    CHECK_INT(coil_stream_pair(ends), 0);
    rc = (int)coil_copy(arg, ends[0]);
    destroy_streams(ends);
    return rc;
}

static void reset(int fd)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

/*
 * Make small reads that wait. After these reads, the io_uring backend receives data ahead
 * of reads.
 */
static void read_some(coil_stream *stream, int peer)
{
    char byte;

    for (int i = 0; i < 4; i++) {
        CHECK_INT(write(peer, "x", 1), 1);
        CHECK_INT(coil_read(stream, &byte, 1), 1);
    }
}

static void lose(int (*read)(void *), bool writer_first, bool ahead)
{
    int peer, rc;
    coil_stream *stream = make_stream_and_peer(&peer);
    coil_task *reader, *writer;

    if (ahead)
        read_some(stream, peer);
    if (writer_first)
        CHECK_INT(coil_spawn(write_until_it_fails, stream, NULL, &writer), 0);
    CHECK_INT(coil_spawn(read, stream, NULL, &reader), 0);
    if (!writer_first)
        CHECK_INT(coil_spawn(write_until_it_fails, stream, NULL, &writer), 0);
    settle();
    reset(peer);
    CHECK_INT(coil_task_await(reader), -ECONNRESET);
    rc = coil_task_await(writer);
    CHECK(rc == -ECONNRESET || rc == -EPIPE);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_stream_wait_readable(stream), 0);
        CHECK_INT(read_once(stream), -ECONNRESET);
        CHECK_INT(coil_write(stream, "x", 1), -EPIPE);
    }
    coil_task_release(reader);
    coil_task_release(writer);
    coil_stream_destroy(stream);
}

IO_TEST(lost_connection_fails_its_reader_and_its_writer)
{
    int (*const reads[])(void *) = {read_once, wait_and_read, wait_yield_and_read,
                                    read_line, read_exactly,  copy_to_nowhere};

    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
        for (int j = 0; j < 4; j++)
            lose(reads[i], j & 1, j & 2);
}

/*
 * After the writer has got the reset, the reader still gets the bytes that arrived before
 * it.
 */
IO_TEST(lost_connection_fails_a_reader_that_comes_later)
{
    for (int ahead = 0; ahead < 2; ahead++) {
        char bytes[16];
        int peer;
        coil_stream *stream = make_stream_and_peer(&peer);

        if (ahead)
            read_some(stream, peer);
        CHECK_INT(write(peer, "last", 4), 4);
        reset(peer);
        CHECK(coil_write(stream, "x", 1) < 0);
        CHECK_INT(coil_stream_wait_readable(stream), 0);
        CHECK_INT(coil_read(stream, bytes, sizeof bytes), 4);
        CHECK_INT(coil_stream_wait_readable(stream), 0);
        CHECK_INT(coil_read(stream, bytes, sizeof bytes), -ECONNRESET);
        CHECK(!coil_stream_at_end(stream));
        coil_stream_destroy(stream);
    }
}

IO_TEST(lost_connection_fails_a_reader_on_the_next_loop)
{
    int peer;
    coil_stream *stream = make_stream_and_peer(&peer);

    reset(peer);
    CHECK_INT(coil_write(stream, "x", 1), -ECONNRESET);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(coil_stream_detach(stream), 0);
        CHECK_INT(coil_stream_attach(stream), 0);
        CHECK_INT(read_once(stream), -ECONNRESET);
    }
    coil_stream_destroy(stream);
}

/* Read after shutting down the writing side. */
IO_TEST(lost_connection_fails_its_reader_after_shutdown)
{
    int peer;
    coil_stream *stream = make_stream_and_peer(&peer);

    CHECK_INT(coil_stream_shutdown_write(stream), 0);
    reset(peer);
    CHECK_INT(coil_write(stream, "x", 1), -ECONNRESET);
    CHECK_INT(read_once(stream), -ECONNRESET);
    CHECK_INT(coil_write(stream, "x", 1), -EPIPE);
    CHECK_INT(read_once(stream), -ECONNRESET);
    coil_stream_destroy(stream);
}

/*
 * If the peer's normal end of stream arrives before a reset, no bytes are lost, and a
 * read returns the normal end.
 */
IO_TEST(orderly_end_before_a_reset_stays_one)
{
    for (int writer_first = 0; writer_first < 2; writer_first++) {
        int peer;
        coil_stream *stream = make_stream_and_peer(&peer);

        CHECK_INT(shutdown(peer, SHUT_WR), 0);
        if (!writer_first)
            CHECK_INT(read_once(stream), 0);
        reset(peer);
        CHECK_INT(coil_write(stream, "x", 1), -EPIPE);
        CHECK_INT(read_once(stream), 0);
        CHECK(coil_stream_at_end(stream));
        coil_stream_destroy(stream);
    }
}

/*
 * A new connection does not inherit the error of a lost connection with the same
 * descriptor number.
 */
IO_TEST(lost_connection_is_forgotten_with_its_descriptor)
{
    int peer, fd, next[2];
    coil_stream *stream = make_stream_and_peer(&peer);

    make_tcp_pair(next);
    reset(peer);
    CHECK_INT(coil_write(stream, "x", 1), -ECONNRESET);
    fd = coil_stream_fd(stream);
    coil_stream_destroy(stream);
    CHECK_INT(dup2(next[0], fd), fd);
    close(next[0]);
    close(next[1]);
    CHECK_INT(coil_stream_adopt(fd, &stream), 0);
    CHECK_INT(read_once(stream), 0);
    coil_stream_destroy(stream);
}

/*
 * Reader and writer both get the error on the simulated network, too, where a packet
 * delivers it.
 */
NET_TEST(lost_connection_fails_both_on_any_network)
{
    coil_stream *ends[2];
    coil_task *reader, *writer;
    int rc;

    connect_streams(ends);
    CHECK_INT(coil_spawn(write_until_it_fails, ends[0], NULL, &writer), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(5)), 0);
    CHECK_INT(coil_spawn(wait_yield_and_read, ends[0], NULL, &reader), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(5)), 0);
    coil_stream_destroy(ends[1]); /* unread bytes cause a reset */
    rc = coil_task_await(reader);
    CHECK_INT(rc, -ECONNRESET);
    rc = coil_task_await(writer);
    CHECK(rc == -ECONNRESET || rc == -EPIPE);
    coil_task_release(reader);
    coil_task_release(writer);
    coil_stream_destroy(ends[0]);
}
