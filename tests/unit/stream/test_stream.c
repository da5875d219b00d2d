/*
 * test_stream.c - reading and writing, ends of streams, errors, closing, and cancelling.
 */
#include "../socket/sockets.h"
#include "flood.h"
#include "transfer.h"

#include "../../harness/harness.h"
#include "../../../src/loop/loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- moving bytes ------------------------------------------------------------------ */

NET_TEST(stream_reads_what_was_written)
{
    coil_stream *ends[2];
    char buf[16];

    connect_streams(ends);
    CHECK_INT(coil_write(ends[0], "hello", 5), 5);
    CHECK_INT(coil_read_exact(ends[1], buf, 5), 5);
    CHECK(memcmp(buf, "hello", 5) == 0);
    CHECK_INT(coil_read(ends[1], buf, 0), 0);
    CHECK_INT(coil_write(ends[1], "", 0), 0);
    destroy_streams(ends);
}

IO_TEST(stream_read_waits_for_bytes)
{
    char buf[16];
    int peer;
    struct transfer t = {make_stream_and_peer(&peer), buf, sizeof buf, 0, false};
    coil_task *task = transfer_start(transfer_read, &t);

    CHECK(!t.ended);
    CHECK_INT(write(peer, "late", 4), 4);
    finish(task);
    CHECK_INT(t.result, 4);
    close(peer);
    coil_stream_destroy(t.stream);
}

static int echo(void *arg)
{
    coil_stream *stream = arg;
    char buf[64];
    ssize_t n;

    while ((n = coil_read(stream, buf, sizeof buf)) > 0)
        if (coil_write(stream, buf, (size_t)n) < 0)
            break;
    coil_stream_destroy(stream);
    return (int)n;
}

NET_TEST(stream_echo)
{
    coil_stream *ends[2];
    coil_task *task;
    char buf[64];

    connect_streams(ends);
    CHECK_INT(coil_spawn(echo, ends[1], NULL, &task), 0);
    for (int i = 0; i < 500; i++) {
        int n = snprintf(buf, sizeof buf, "message %d", i);
        char back[64] = "";

        CHECK_INT(coil_write(ends[0], buf, (size_t)n), n);
        CHECK_INT(coil_read_exact(ends[0], back, (size_t)n), n);
        CHECK_STR(back, buf);
    }
    coil_stream_destroy(ends[0]);
    finish(task);
}

NET_TEST(stream_read_of_one_byte_at_a_time)
{
    coil_stream *ends[2];
    unsigned char sent[1000], byte;

    connect_streams(ends);
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = pattern_byte(i);
    CHECK_INT(coil_write(ends[0], sent, sizeof sent), sizeof sent);
    for (size_t i = 0; i < sizeof sent; i++) {
        CHECK_INT(coil_read(ends[1], &byte, 1), 1);
        CHECK_INT(byte, sent[i]);
    }
    destroy_streams(ends);
}

NET_TEST(stream_large_transfers_both_ways_with_a_slow_reader)
{
    coil_stream *ends[2];

    connect_streams(ends);
    check_floods_both_ways(ends, (size_t)4 * 1024 * 1024);
    destroy_streams(ends);
}

/* ---- the end ----------------------------------------------------------------------- */

NET_TEST(stream_half_close)
{
    coil_stream *ends[2];
    char buf[16];

    connect_streams(ends);
    CHECK_INT(coil_write(ends[0], "question", 8), 8);
    CHECK_INT(coil_stream_shutdown_write(ends[0]), 0);
    CHECK_INT(coil_stream_shutdown_write(ends[0]), 0);
    CHECK_INT(coil_read_exact(ends[1], buf, 8), 8);
    CHECK_INT(coil_read(ends[1], buf, sizeof buf), 0);
    CHECK_INT(coil_read(ends[1], buf, sizeof buf), 0);
    CHECK_INT(coil_write(ends[1], "answer", 6), 6);
    CHECK_INT(coil_read_exact(ends[0], buf, 6), 6);
    CHECK_INT(coil_write(ends[0], "more", 4), -EPIPE);
    destroy_streams(ends);
}

/*
 * The end of the stream may arrive before the event for the last bytes, with it, or after
 * it.
 */
IO_TEST(stream_end_is_seen_whenever_it_comes)
{
    /* static, because another task reads into it while this one waits */
    static char buf[16];

    for (int i = 0; i < 60; i++) {
        int peer;
        struct transfer t = {make_stream_and_peer(&peer), buf, sizeof buf, 0, false};
        coil_task *task = NULL;

        if (i % 2 == 0)
            task = transfer_start(transfer_read, &t);
        CHECK_INT(write(peer, "last", 4), 4);
        if (i % 3 == 0)
            coil_sleep(COIL_USEC(100));
        shutdown(peer, SHUT_WR);
        if (i % 5 == 0)
            coil_sleep(COIL_USEC(100));
        if (task == NULL)
            task = transfer_start(transfer_read, &t);
        finish(task);
        CHECK_INT(t.result, 4);
        CHECK_INT(coil_read(t.stream, buf, sizeof buf), 0);
        close(peer);
        coil_stream_destroy(t.stream);
    }
}

/*
 * epoll reports the last bytes and the hang-up in one event. A read must return the
 * bytes, and the next read the end.
 */
IO_TEST(stream_hang_up_comes_behind_the_bytes)
{
    for (int i = 0; i < 4; i++) {
        char buf[8];
        coil_stream *ends[2];
        coil_task *task = NULL;

        CHECK_INT(i < 2 ? coil_stream_pair(ends) : coil_pipe(ends), 0);
        struct transfer t = {ends[0], buf, 3, 0, false};
        if (i % 2 == 0)
            task = transfer_start(transfer_read, &t);
        CHECK_INT(coil_write(ends[1], "bytes", 5), 5);
        coil_stream_destroy(ends[1]);
        if (task == NULL)
            task = transfer_start(transfer_read, &t);
        finish(task);
        CHECK_INT(t.result, 3);
        CHECK_INT(coil_read(ends[0], buf, sizeof buf), 2);
        CHECK_INT(coil_read(ends[0], buf, sizeof buf), 0);
        CHECK_INT(coil_read(ends[0], buf, sizeof buf), 0);
        coil_stream_destroy(ends[0]);
    }
}

IO_TEST(stream_read_exact_tells_how_far_it_came)
{
    char buf[16];
    int peer;
    coil_stream *stream = make_stream_and_peer(&peer);

    CHECK_INT(write(peer, "1234567", 7), 7);
    close(peer);
    CHECK_INT(coil_read_exact(stream, buf, 5), 5);
    CHECK_INT(coil_read_exact(stream, buf, 5), -ENODATA);
    CHECK_INT(coil_stream_read_transferred(stream), 2);
    coil_stream_destroy(stream);
}

/*
 * recv(2) stops at the position of urgent data. The bytes after that position must not be
 * lost.
 */
IO_TEST(stream_reads_past_urgent_data)
{
    char buf[64];
    int peer;
    coil_stream *stream = make_stream_and_peer(&peer);

    coil_sleep(COIL_USEC(100)); /* let the poller report the stream as writable */
    CHECK_INT(send(peer, "abc", 3, 0), 3);
    CHECK_INT(send(peer, "!", 1, MSG_OOB), 1);
    CHECK_INT(send(peer, "defg", 4, 0), 4);
    CHECK_INT(coil_read_exact(stream, buf, 7), 7);
    CHECK(memcmp(buf, "abcdefg", 7) == 0);
    close(peer);
    coil_stream_destroy(stream);
}

static void reset(int fd)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(fd);
}

IO_TEST(stream_reset_ends_a_write)
{
    size_t n = (size_t)16 * 1024 * 1024;
    char *buf = calloc(1, n);
    int peer;
    struct transfer t = {make_stream_and_peer(&peer), buf, n, 0, false};
    coil_task *task = transfer_start(transfer_write, &t);

    CHECK(!t.ended);
    reset(peer);
    finish(task);
    CHECK(t.result == -ECONNRESET || t.result == -EPIPE);
    CHECK(coil_stream_write_transferred(t.stream) > 0);
    CHECK_INT(coil_write(t.stream, "x", 1), -EPIPE);
    coil_stream_destroy(t.stream);
    free(buf);
}

/*
 * With this option, close(2) would wait up to 10 s for the peer to read. coil must close
 * the stream without waiting, and all bytes must arrive.
 */
IO_TEST(stream_close_does_not_linger)
{
    struct linger patient = {.l_onoff = 1, .l_linger = 10};
    size_t n = (size_t)16 * 1024 * 1024, came = 0, sent;
    char *buf = calloc(1, n);
    int64_t before;
    ssize_t got;
    int peer;
    struct transfer t = {make_stream_and_peer(&peer), buf, n, 0, false};
    coil_task *task;

    setsockopt(coil_stream_fd(t.stream), SOL_SOCKET, SO_LINGER, &patient, sizeof patient);
    task = transfer_start(transfer_write, &t);
    CHECK(!t.ended);
    before = coil_now();
    CHECK_INT(coil_stream_close(t.stream), 0);
    CHECK(coil_now() - before < COIL_SEC(5));
    finish(task);
    sent = coil_stream_write_transferred(t.stream);
    coil_stream_destroy(t.stream);
    while ((got = read(peer, buf, n)) > 0)
        came += (size_t)got;
    CHECK_INT(got, 0);
    CHECK_INT(came, sent);
    close(peer);
    free(buf);
}

/* SO_LINGER with a time of 0 must make close(2) reset the connection. */
IO_TEST(stream_close_resets_if_told_to)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    int peer;
    coil_stream *stream = make_stream_and_peer(&peer);
    char byte;

    setsockopt(coil_stream_fd(stream), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    coil_stream_destroy(stream);
    CHECK_INT(read(peer, &byte, 1), -1);
    CHECK_INT(errno, ECONNRESET);
    close(peer);
}

/* A write that waits for room in a full pipe must end when the reading end is closed. */
IO_TEST(stream_of_a_full_pipe_ends_when_its_reader_goes)
{
    size_t n = (size_t)1024 * 1024;
    char *buf = calloc(1, n);
    coil_stream *ends[2];

    CHECK_INT(coil_pipe(ends), 0);
    struct transfer t = {ends[1], buf, n, 0, false};
    coil_task *task = transfer_start(transfer_write, &t);

    CHECK(!t.ended);
    coil_stream_destroy(ends[0]);
    finish(task);
    CHECK_INT(t.result, -EPIPE);
    CHECK(coil_stream_write_transferred(ends[1]) > 0);
    coil_stream_destroy(ends[1]);
    free(buf);
}

IO_TEST(stream_reset_ends_a_read)
{
    char buf[16];
    int peer;
    struct transfer t = {make_stream_and_peer(&peer), buf, sizeof buf, 0, false};
    coil_task *task = transfer_start(transfer_read, &t);

    reset(peer);
    finish(task);
    CHECK_INT(t.result, -ECONNRESET);
    coil_stream_destroy(t.stream);
}

IO_TEST(stream_write_to_a_closed_peer_raises_no_sigpipe)
{
    coil_stream *stream;
    sigset_t pending;
    int fds[2];

    CHECK_INT(signal(SIGPIPE, SIG_DFL) == SIG_ERR, 0);
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(coil_stream_adopt(fds[1], &stream), 0);
    close(fds[0]);
    CHECK_INT(coil_write(stream, "x", 1), -EPIPE);
    sigpending(&pending);
    CHECK(!sigismember(&pending, SIGPIPE));
    coil_stream_destroy(stream);

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    CHECK_INT(coil_stream_adopt(fds[1], &stream), 0);
    close(fds[0]);
    CHECK_INT(coil_write(stream, "x", 1), -EPIPE);
    coil_stream_destroy(stream);
}

/* ---- adopting ---------------------------------------------------------------------- */

IO_TEST(stream_adopts_pipes)
{
    coil_stream *in, *out;
    char buf[100000];
    struct transfer t;
    coil_task *task;
    int fds[2];

    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(coil_stream_adopt(fds[0], &in), 0);
    CHECK_INT(coil_stream_adopt(fds[1], &out), 0);
    CHECK_INT(coil_stream_fd(in), fds[0]);
    CHECK(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
    memset(buf, 'p', sizeof buf);
    /* buf is larger than a pipe's buffer */
    t = (struct transfer){out, buf, sizeof buf, 0, false};
    task = transfer_start(transfer_write, &t);
    CHECK(!t.ended);
    CHECK_INT(coil_read_exact(in, buf, sizeof buf), sizeof buf);
    finish(task);
    CHECK_INT(t.result, sizeof buf);
    CHECK_INT(coil_stream_shutdown_write(in), -ENOTSOCK);
    coil_stream_destroy(out);
    CHECK_INT(coil_read(in, buf, sizeof buf), 0);
    coil_stream_destroy(in);
}

IO_TEST(stream_adopts_terminals)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    coil_stream *stream;
    char buf[16];
    int terminal;

    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) {
        close(master);
        test_skip("no pseudo-terminals here");
    }
    terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK_INT(coil_stream_adopt(terminal, &stream), 0);
    CHECK_INT(write(master, "typed\n", 6), 6);
    CHECK_INT(coil_read(stream, buf, sizeof buf), 6);
    CHECK_INT(coil_write(stream, "shown", 5), 5);
    coil_stream_destroy(stream);
    close(master);
}

IO_TEST(stream_adopt_refuses_and_leaves_the_descriptor_alone)
{
    coil_stream *stream, *second;
    int fds[2];

    CHECK_INT(coil_stream_adopt(-1, &stream), -EBADF);
    CHECK_INT(coil_stream_adopt(INT32_MAX, &stream), -EBADF);
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), 0);
    CHECK_INT(coil_stream_adopt(fds[0], &second), -EBUSY);
    coil_stream_destroy(stream);
    close(fds[1]);
}

/*
 * Files that are always ready can be adopted, too, because standard input may be any kind
 * of file.
 */
IO_TEST(stream_adopts_what_never_waits)
{
    char path[] = "/tmp/coil-adopt-XXXXXX", bytes[8] = "";
    coil_stream *stream;
    int file = mkstemp(path);

    CHECK(file >= 0);
    CHECK_INT(coil_stream_adopt(file, &stream), 0);
    CHECK_INT(coil_write(stream, "hello", 5), 5);
    CHECK_INT(lseek(file, 1, SEEK_SET), 1);
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), 4);
    CHECK_STR(bytes, "ello");
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), 0);
    coil_stream_destroy(stream);
    unlink(path);
    CHECK_INT(coil_stream_adopt(open("/dev/null", O_RDWR | O_CLOEXEC), &stream), 0);
    CHECK_INT(coil_write(stream, "hello", 5), 5);
    CHECK_INT(coil_read(stream, bytes, sizeof bytes), 0);
    coil_stream_destroy(stream);
    CHECK_INT(coil_stream_adopt(open("/dev/urandom", O_RDONLY | O_CLOEXEC), &stream), 0);
    CHECK_INT(coil_read_exact(stream, bytes, sizeof bytes), sizeof bytes);
    coil_stream_destroy(stream);
}

/* ---- closing ----------------------------------------------------------------------- */

IO_TEST(stream_close_wakes_reader_and_writer)
{
    size_t n = (size_t)16 * 1024 * 1024;
    char *large = calloc(1, n), buf[16];
    int peer;
    coil_stream *stream = make_stream_and_peer(&peer);
    struct transfer in = {stream, buf, sizeof buf, 0, false};
    struct transfer out = {stream, large, n, 0, false};
    coil_task *reader = transfer_start(transfer_read, &in),
              *writer = transfer_start(transfer_write, &out);

    CHECK(!in.ended && !out.ended);
    CHECK_INT(coil_stream_close(stream), 0);
    CHECK_INT(coil_stream_close(stream), 0);
    CHECK_INT(coil_stream_fd(stream), -1);
    finish(reader);
    finish(writer);
    CHECK_INT(in.result, -EBADF);
    CHECK_INT(out.result, -EBADF);
    CHECK_INT(coil_read(stream, buf, sizeof buf), -EBADF);
    CHECK_INT(coil_write(stream, buf, sizeof buf), -EBADF);
    CHECK_INT(coil_stream_shutdown_write(stream), -EBADF);
    coil_stream_destroy(stream);
    close(peer);
    free(large);
}

NET_TEST(stream_closed_before_a_call_has_moved_nothing)
{
    coil_stream *ends[2];
    char buf[16];

    connect_streams(ends);
    CHECK_INT(coil_write(ends[0], "hello", 5), 5);
    CHECK_INT(coil_read_exact(ends[1], buf, 5), 5);
    coil_stream_close(ends[0]);
    coil_stream_close(ends[1]);
    CHECK_INT(coil_writev(ends[0], &(struct iovec){buf, 5}, 1), -EBADF);
    CHECK_INT(coil_stream_write_transferred(ends[0]), 0);
    CHECK_INT(coil_write(ends[0], "hello", 5), -EBADF);
    CHECK_INT(coil_stream_write_transferred(ends[0]), 0);
    CHECK_INT(coil_read_exact(ends[1], buf, 5), -EBADF);
    CHECK_INT(coil_stream_read_transferred(ends[1]), 0);
    destroy_streams(ends);
}

/*
 * Send a line from one stream to the other, and check the numbers of transferred bytes.
 */
static void move_a_line(coil_stream *ends[2])
{
    char line[8];

    CHECK_INT(coil_write(ends[0], "ab\n", 3), 3);
    CHECK_INT(coil_read_line(ends[1], line, sizeof line), 2);
    CHECK_INT(coil_stream_write_transferred(ends[0]), 3);
    CHECK_INT(coil_stream_read_transferred(ends[1]), 3);
}

NET_TEST(stream_calls_that_fail_at_once_have_moved_nothing)
{
    const struct iovec too_much[2] = {{"x", SIZE_MAX / 2}, {"x", SIZE_MAX / 2}};
    coil_stream *ends[2];
    char buf[8];

    connect_streams(ends);
    move_a_line(ends);
    CHECK_INT(coil_read_line(ends[1], buf, 0), -EINVAL);
    CHECK_INT(coil_stream_read_transferred(ends[1]), 0);
    CHECK_INT(coil_writev(ends[0], too_much, 2), -EINVAL);
    CHECK_INT(coil_stream_write_transferred(ends[0]), 0);
    move_a_line(ends);
    CHECK_INT(coil_read_until(ends[1], "", 0, buf, sizeof buf), -EINVAL);
    CHECK_INT(coil_stream_read_transferred(ends[1]), 0);
    CHECK_INT(coil_sendfile(ends[0], -1, NULL, 1), -EBADF);
    CHECK_INT(coil_stream_write_transferred(ends[0]), 0);
    destroy_streams(ends);
}

NET_TEST(stream_calls_after_closing_have_moved_nothing)
{
    char buf[8];

    for (int call = 0; call < 3; call++) {
        coil_stream *ends[2];
        ssize_t rc;

        connect_streams(ends);
        move_a_line(ends);
        coil_stream_close(ends[0]);
        coil_stream_close(ends[1]);
        rc = call == 0   ? coil_read_line(ends[1], buf, sizeof buf)
             : call == 1 ? coil_read_until(ends[1], "\n", 1, buf, sizeof buf)
                         : coil_read_exact(ends[1], buf, 1);
        CHECK_INT(rc, -EBADF);
        CHECK_INT(coil_stream_read_transferred(ends[1]), 0);
        rc = call == 0   ? coil_sendfile(ends[0], 0, NULL, 1)
             : call == 1 ? coil_writev(ends[0], &(struct iovec){buf, 1}, 1)
                         : coil_write(ends[0], buf, 1);
        CHECK_INT(rc, -EBADF);
        CHECK_INT(coil_stream_write_transferred(ends[0]), 0);
        destroy_streams(ends);
    }
}

IO_TEST(stream_destroy_wakes_a_reader_who_touches_it_no_more)
{
    char buf[16];
    int peer;
    struct transfer t = {make_stream_and_peer(&peer), buf, sizeof buf, 0, false};
    coil_task *task = transfer_start(transfer_read_exact, &t);

    coil_stream_destroy(t.stream);
    finish(task);
    CHECK_INT(t.result, -EBADF);
    close(peer);
}

/*
 * A read whose bytes have arrived returns them, even if the stream is destroyed before
 * the reader runs.
 */
IO_TEST(stream_closed_between_arrival_and_reader)
{
    struct coil__backend *backend = coil_loop_current()->backend;
    char buf[16];
    int peer;
    struct transfer t = {make_stream_and_peer(&peer), buf, sizeof buf, 0, false};
    coil_task *task = transfer_start(transfer_read, &t);

    CHECK_INT(write(peer, "bytes", 5), 5);
    CHECK_INT(backend->class->poll(backend, COIL_SEC(5)), 0);
    CHECK(!t.ended);
    coil_stream_destroy(t.stream);
    finish(task);
    CHECK_INT(t.result, 5);
    close(peer);
}

IO_TEST(stream_of_a_reused_number_gets_no_old_event)
{
    for (int i = 0; i < 20; i++) {
        char buf[16];
        int old_peer, peer, fds[2];
        coil_stream *old = make_stream_and_peer(&old_peer), *stream;
        struct transfer t;
        coil_task *task;
        int number = coil_stream_fd(old);
        int kept = i % 2 == 0 ? dup(number) : -1; /* keeps the file open */

        make_tcp_pair(fds);
        if (i % 4 < 2)
            coil_sleep(COIL_USEC(50));
        CHECK_INT(write(old_peer, "old", 3), 3);
        coil_stream_destroy(old);
        CHECK_INT(dup2(fds[0], number), number);
        close(fds[0]);
        peer = fds[1];
        CHECK_INT(coil_stream_adopt(number, &stream), 0);
        t = (struct transfer){stream, buf, sizeof buf, 0, false};
        task = transfer_start(transfer_read, &t);
        coil_sleep(COIL_USEC(200));
        CHECK(!t.ended);
        CHECK_INT(write(peer, "newer", 5), 5);
        finish(task);
        CHECK_INT(t.result, 5);
        coil_stream_destroy(stream);
        close(old_peer);
        close(peer);
        if (kept >= 0)
            close(kept);
    }
}

/*
 * Other code closes the descriptor without notifying coil. If the kernel reports that the
 * descriptor was closed, the waiting task ends.
 */
IO_TEST(stream_whose_descriptor_was_closed_behind_its_back)
{
    char buf[16];
    int peer;
    struct transfer t = {make_stream_and_peer(&peer), buf, sizeof buf, 0, false};
    coil_task *task = transfer_start(transfer_read, &t);
    const char *backend = coil_backend_name();

    close(coil_stream_fd(t.stream));
    coil_sleep(COIL_USEC(100));
    if (strcmp(backend, "epoll") == 0 || strcmp(backend, "io_uring") == 0)
        coil_task_cancel(task, NULL); /* the kernel has not reported it */
    else
        CHECK(t.ended);
    finish(task);
    CHECK(t.result == -EBADF || t.result == -ECANCELED);
    CHECK_INT(coil_stream_close(t.stream), -EBADF);
    coil_stream_destroy(t.stream);
    close(peer);
}

static int make_and_leave(void *arg)
{
    coil_stream **stream = arg;
    int peer;

    *stream = make_stream_and_peer(&peer);
    close(peer);
    return 0;
}

TEST(stream_may_outlive_its_loop)
{
    coil_stream *stream;

    CHECK_INT(coil_run(make_and_leave, &stream, NULL), 0);
    CHECK_INT(coil_stream_close(stream), 0);
    coil_stream_destroy(stream);
    CHECK_INT(coil_run(make_and_leave, &stream, NULL), 0);
    coil_stream_destroy(stream);
    coil_stream_destroy(NULL);
}

static void *destroy_elsewhere(void *arg)
{
    coil_stream_destroy(arg);
    return NULL;
}

static void destroy_on_another_thread(void *arg)
{
    pthread_t thread;

    pthread_create(&thread, NULL, destroy_elsewhere, arg);
    pthread_join(thread, NULL);
}

IO_TEST(stream_is_destroyed_on_its_thread)
{
    coil_stream *stream;
    int peer;

    if (COIL__TSAN)
        test_skip("TSan does not support new threads after fork(2)");
    stream = make_stream_and_peer(&peer);
    test_dies(destroy_on_another_thread, stream,
              "coil_stream_destroy: the object belongs to another loop");
    coil_stream_destroy(stream);
    close(peer);
}

IO_TEST(stream_adopt_without_memory)
{
    coil_stream *stream;
    int fds[2];

    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    test_fail_allocation(1);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), -ENOMEM);
    CHECK(!(fcntl(fds[0], F_GETFL) & O_NONBLOCK));
    test_fail_allocation(0);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), 0);
    coil_stream_destroy(stream);
    close(fds[1]);
}

IO_TEST(stream_second_reader_or_writer_is_busy)
{
    size_t n = (size_t)16 * 1024 * 1024;
    /* static, because another task reads into it while this one waits */
    static char buf[16];
    char *large = calloc(1, n), other[16];
    int peer;
    coil_stream *stream = make_stream_and_peer(&peer);
    struct transfer in = {stream, buf, 10, 0, false};
    struct transfer out = {stream, large, n, 0, false};
    coil_task *reader = transfer_start(transfer_read_exact, &in),
              *writer = transfer_start(transfer_write, &out);

    CHECK_INT(coil_read(stream, other, sizeof other), -EBUSY);
    CHECK_INT(coil_write(stream, other, sizeof other), -EBUSY);
    CHECK_INT(write(peer, "12345", 5), 5);
    coil_sleep(COIL_MSEC(1));
    CHECK_INT(coil_read(stream, other, sizeof other), -EBUSY);
    CHECK_INT(write(peer, "67890", 5), 5);
    finish(reader);
    CHECK_INT(in.result, 10);
    CHECK(memcmp(buf, "1234567890", 10) == 0);
    coil_task_cancel(writer, NULL);
    finish(writer);
    coil_stream_destroy(stream);
    close(peer);
    free(large);
}

/* ---- cancelling -------------------------------------------------------------------- */

IO_TEST(stream_read_cancelled_takes_nothing)
{
    char buf[16];
    int peer;
    struct transfer t = {make_stream_and_peer(&peer), buf, sizeof buf, 0, false};
    coil_task *task = transfer_start(transfer_read, &t);

    CHECK(coil_task_cancel(task, NULL));
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
    CHECK_INT(t.result, -ECANCELED);
    CHECK_INT(write(peer, "still", 5), 5);
    CHECK_INT(coil_read(t.stream, buf, sizeof buf), 5);
    coil_stream_destroy(t.stream);
    close(peer);
}

NET_TEST(stream_write_cancelled_tells_how_far_it_came)
{
    size_t n = (size_t)16 * 1024 * 1024, sent, received = 0;
    char *large = calloc(1, n);
    coil_stream *ends[2];
    struct transfer t;
    coil_task *task;
    ssize_t got;

    connect_streams(ends);
    t = (struct transfer){ends[0], large, n, 0, false};
    task = transfer_start(transfer_write, &t);
    if (test_simulated())
        coil_sleep(COIL_MSEC(10));
    CHECK(coil_task_cancel(task, NULL));
    finish(task);
    CHECK_INT(t.result, -ECANCELED);
    sent = coil_stream_write_transferred(ends[0]);
    CHECK(sent > 0 && sent < n);
    coil_stream_destroy(ends[0]);
    while ((got = coil_read(ends[1], large, n)) > 0)
        received += (size_t)got;
    CHECK_INT(received, sent);
    coil_stream_destroy(ends[1]);
    free(large);
}

/*
 * Read twice: the first read returns bytes that arrived before the cancellation; the
 * second one has to wait, and is cancelled.
 */
static int read_twice(void *arg)
{
    struct transfer *t = arg;

    t->result = coil_read(t->stream, t->buf, t->n);
    return (int)coil_read(t->stream, t->buf, t->n);
}

/*
 * Cancel a read before, after or at the moment when bytes arrive. Either this read or the
 * next one must return the bytes.
 */
NET_TEST(stream_read_again_at_once_after_a_cancelled_one)
{
    for (int i = 0; i < 20; i++) {
        coil_stream *ends[2];
        char first[8] = "", second[8] = "";

        connect_streams(ends);
        struct transfer t = {ends[0], first, 5, 0, false};
        coil_task *task = transfer_start(transfer_read, &t);

        if (i % 2 == 0)
            CHECK_INT(coil_write(ends[1], "bytes", 5), 5);
        if (i % 4 < 2)
            coil_yield();
        coil_task_cancel(task, NULL);
        if (i % 8 < 4)
            coil_yield();
        if (i % 2 == 1)
            CHECK_INT(coil_write(ends[1], "bytes", 5), 5);
        /* the result depends on which came first */
        coil_task_await(task);
        coil_task_release(task);
        size_t n = t.result > 0 ? (size_t)t.result : 0;
        CHECK(n > 0 || t.result == -ECANCELED);
        CHECK_INT(coil_read_exact(ends[0], second, 5 - n), 5 - n);
        memcpy(first + n, second, 5 - n);
        CHECK_STR(first, "bytes");
        destroy_streams(ends);
    }
}

IO_TEST(stream_read_that_has_taken_effect_is_not_cancelled)
{
    struct coil__backend *backend = coil_loop_current()->backend;
    char buf[16];
    int peer;
    struct transfer t = {make_stream_and_peer(&peer), buf, sizeof buf, 0, false};
    coil_task *task = transfer_start(read_twice, &t);

    CHECK_INT(write(peer, "bytes", 5), 5);
    CHECK_INT(backend->class->poll(backend, COIL_SEC(5)), 0);
    CHECK(coil_task_cancel(task, NULL));
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    CHECK_INT(t.result, 5);
    coil_stream_destroy(t.stream);
    close(peer);
}

IO_TEST(stream_read_times_out_in_a_scope)
{
    coil_scope s;
    char buf[16];
    ssize_t rc;
    int peer;
    coil_stream *stream = make_stream_and_peer(&peer);

    CHECK_INT(coil_scope_enter(&s, coil_in(COIL_MSEC(5))), 0);
    rc = coil_read(stream, buf, sizeof buf);
    CHECK_INT(rc, -ECANCELED);
    CHECK_INT(coil_scope_exit(&s, (int)rc), -ETIMEDOUT);
    CHECK_INT(write(peer, "later", 5), 5);
    CHECK_INT(coil_read(stream, buf, sizeof buf), 5);
    coil_stream_destroy(stream);
    close(peer);
}

/* ---- fairness ---------------------------------------------------------------------- */

static int count_yields(void *arg)
{
    int *count = arg;

    while (coil_yield() == 0)
        ++*count;
    return 0;
}

static int count_sleeps(void *arg)
{
    int *count = arg;

    while (coil_sleep(COIL_USEC(10)) == 0)
        ++*count;
    return 0;
}

IO_TEST(stream_that_is_always_readable_starves_nobody)
{
    static char bytes[32768];
    coil_stream *ends[2];
    coil_task *yielding, *sleeping;
    int yields = 0, sleeps = 0;

    make_stream_pair(ends);
    CHECK_INT(coil_write(ends[0], bytes, sizeof bytes), sizeof bytes);
    CHECK_INT(coil_spawn(count_yields, &yields, NULL, &yielding), 0);
    CHECK_INT(coil_spawn(count_sleeps, &sleeps, NULL, &sleeping), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        CHECK_INT(coil_read(ends[1], bytes, 1), 1);
    CHECK(yields > (int)sizeof bytes / 80); /* a read yields about every 64 calls */
    CHECK(sleeps > 0);
    coil_task_cancel(yielding, NULL);
    coil_task_cancel(sleeping, NULL);
    finish(yielding);
    finish(sleeping);
    destroy_streams(ends);
}

/* ---- a peer that has shut down its writing side ------------------------------------ */

/*
 * Make a pair of streams, and shut down the writing side of ends[1], so that io_uring's
 * polls of ends[0] complete at once.
 */
static void make_half_closed(coil_stream *ends[2], bool local)
{
    int fds[2];

    if (local) {
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        for (int i = 0; i < 2; i++)
            CHECK_INT(coil_stream_adopt(fds[i], &ends[i]), 0);
    } else {
        make_stream_pair(ends);
    }
    CHECK_INT(coil_stream_shutdown_write(ends[1]), 0);
}

enum { MUCH = 16 << 20 };

static int write_much(void *arg)
{
    return (int)coil_write(arg, test_memory(MUCH), MUCH);
}

static coil_task *start_writing_much(coil_stream *stream)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(write_much, stream, NULL, &task), 0);
    settle();
    return task;
}

IO_TEST(stream_write_to_a_peer_that_sends_no_more_waits_asleep)
{
    for (int local = 0; local < 2; local++) {
        coil_stats before, after;
        coil_stream *ends[2];
        coil_task *task;

        make_half_closed(ends, local);
        task = start_writing_much(ends[0]);
        coil_sleep(COIL_MSEC(10)); /* let the write notice the shutdown */
        coil_stats_get(&before);
        coil_sleep(COIL_MSEC(100));
        coil_stats_get(&after);
        CHECK(after.polls - before.polls < 30);
        CHECK_INT(coil_read_exact(ends[1], test_memory(MUCH), MUCH), MUCH);
        CHECK_INT(coil_task_await(task), MUCH);
        coil_task_release(task);
        destroy_streams(ends);
    }
}

IO_TEST(stream_write_to_a_peer_that_sends_no_more_is_cancelled_and_closed)
{
    for (int local = 0; local < 2; local++) {
        coil_stream *ends[2];
        coil_task *task;

        make_half_closed(ends, local);
        task = start_writing_much(ends[0]);
        coil_sleep(COIL_MSEC(10));
        coil_task_cancel(task, NULL);
        CHECK_INT(coil_task_await(task), -ECANCELED);
        coil_task_release(task);
        task = start_writing_much(ends[0]);
        coil_sleep(COIL_MSEC(10));
        coil_stream_close(ends[0]);
        CHECK_INT(coil_task_await(task), -EBADF);
        coil_task_release(task);
        destroy_streams(ends);
    }
}
