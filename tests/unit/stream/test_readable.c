/*
 * test_readable.c - waiting until a stream is readable: when it counts as readable, which
 * tasks may wait, and the wait's operation, which is part of the stream.
 */
#include "../socket/sockets.h"

#include "../../../src/stream/stream.h"
#include "../../../src/task/task.h"
#include "../../harness/harness.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct waiting {
    coil_stream *stream;
    int rc;
    bool ended;
};

static int do_wait(void *arg)
{
    struct waiting *w = arg;

    w->rc = coil_stream_wait_readable(w->stream);
    w->ended = true;
    return w->rc == -ECANCELED ? w->rc : 0;
}

static coil_task *start(struct waiting *w)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(do_wait, w, NULL, &task), 0);
    settle();
    return task;
}

/* ---- what counts ------------------------------------------------------------------- */

NET_TEST(wait_readable_until_bytes_come)
{
    coil_stream *ends[2];
    char buf[16];

    connect_streams(ends);
    for (int i = 0; i < 4; i++) { /* after some rounds io_uring receives ahead of reads */
        struct waiting w = {.stream = ends[1]};
        coil_task *task = start(&w);

        CHECK(!w.ended);
        CHECK_INT(coil_write(ends[0], "late", 4), 4);
        finish(task);
        CHECK_INT(w.rc, 0);
        CHECK_INT(coil_read_exact(ends[1], buf, 4), 4);
        CHECK(memcmp(buf, "late", 4) == 0);
    }
    destroy_streams(ends);
}

NET_TEST(wait_readable_takes_nothing)
{
    coil_stream *ends[2];
    char buf[16];

    connect_streams(ends);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(coil_write(ends[0], "bytes", 5), 5);
        for (int j = 0; j < 3; j++)
            CHECK_INT(coil_stream_wait_readable(ends[1]), 0);
        CHECK_INT(coil_read_exact(ends[1], buf, 5), 5);
        CHECK(memcmp(buf, "bytes", 5) == 0);
    }
    destroy_streams(ends);
}

NET_TEST(wait_readable_counts_bytes_that_were_read_ahead)
{
    coil_stream *ends[2];
    const void *bytes;
    char line[16];

    connect_streams(ends);
    CHECK_INT(coil_write(ends[0], "one\ntwo\n", 8), 8);
    CHECK_INT(coil_peek(ends[1], &bytes, 8), 8);
    CHECK_INT(coil_read_line(ends[1], line, sizeof line), 3);
    CHECK_INT(coil_stream_wait_readable(ends[1]), 0);
    CHECK_INT(coil_read_line(ends[1], line, sizeof line), 3);
    CHECK_STR(line, "two");
    struct waiting w = {.stream = ends[1]};
    coil_task *task = start(&w);
    CHECK(!w.ended);
    CHECK_INT(coil_write(ends[0], "x\n", 2), 2);
    finish(task);
    CHECK_INT(coil_read_line(ends[1], line, sizeof line), 1);
    destroy_streams(ends);
}

NET_TEST(wait_readable_counts_the_end)
{
    coil_stream *ends[2];
    char byte;

    connect_streams(ends);
    struct waiting w = {.stream = ends[1]};
    coil_task *task = start(&w);
    coil_stream_destroy(ends[0]);
    finish(task);
    CHECK_INT(w.rc, 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_read(ends[1], &byte, 1), 0);
        CHECK_INT(coil_stream_wait_readable(ends[1]), 0);
    }
    coil_stream_destroy(ends[1]);
}

IO_TEST(wait_readable_counts_a_reset_which_the_read_returns)
{
    struct linger reset = {.l_onoff = 1};
    char byte;

    for (int armed = 0; armed < 3; armed++) {
        int peer;
        struct waiting w = {.stream = make_stream_and_peer(&peer)};
        coil_task *task;

        for (int i = 0; i < armed; i++) {
            CHECK_INT(write(peer, "x", 1), 1);
            CHECK_INT(coil_stream_wait_readable(w.stream), 0);
            CHECK_INT(coil_read(w.stream, &byte, 1), 1);
        }
        task = start(&w);
        setsockopt(peer, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(peer);
        finish(task);
        CHECK_INT(w.rc, 0);
        CHECK_INT(coil_read(w.stream, &byte, 1), -ECONNRESET);
        coil_stream_destroy(w.stream);
    }
}

IO_TEST(wait_readable_does_not_count_urgent_data)
{
    int peer;
    struct waiting w = {.stream = make_stream_and_peer(&peer)};
    coil_task *task = start(&w);

    CHECK_INT(send(peer, "!", 1, MSG_OOB), 1);
    settle();
    CHECK(!w.ended);
    CHECK_INT(write(peer, "x", 1), 1);
    finish(task);
    CHECK_INT(w.rc, 0);
    coil_stream_destroy(w.stream);
    close(peer);
}

IO_TEST(wait_readable_counts_what_came_along_from_another_loop)
{
    coil_stream *ends[2];
    char buf[8];

    make_stream_pair(ends);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(coil_write(ends[0], "x", 1), 1);
        CHECK_INT(coil_stream_wait_readable(ends[1]), 0);
        CHECK_INT(coil_stream_detach(ends[1]), 0);
        CHECK_INT(coil_stream_attach(ends[1]), 0);
        CHECK_INT(coil_stream_wait_readable(ends[1]), 0);
        CHECK_INT(coil_read(ends[1], buf, 1), 1);
    }
    destroy_streams(ends);
}

IO_TEST(wait_readable_of_pipes_and_of_what_is_always_ready)
{
    coil_stream *ends[2], *null;
    char buf[8];

    CHECK_INT(coil_pipe(ends), 0);
    struct waiting w = {.stream = ends[0]};
    coil_task *task = start(&w);
    CHECK(!w.ended);
    CHECK_INT(coil_write(ends[1], "x", 1), 1);
    finish(task);
    CHECK_INT(w.rc, 0);
    CHECK_INT(coil_read(ends[0], buf, sizeof buf), 1);
    coil_stream_destroy(ends[1]);
    CHECK_INT(coil_stream_wait_readable(ends[0]), 0);
    coil_stream_destroy(ends[0]);
    CHECK_INT(coil_stream_adopt(open("/dev/null", O_RDONLY | O_CLOEXEC), &null), 0);
    CHECK_INT(coil_stream_wait_readable(null), 0);
    coil_stream_destroy(null);
}

/* ---- serving by it ----------------------------------------------------------------- */

static ssize_t answer(coil_stream *stream, size_t size)
{
    char bytes[8192];
    ssize_t n = coil_read(stream, bytes, size);

    return n > 0 ? coil_write(stream, bytes, (size_t)n) : n;
}

static int serve(void *arg)
{
    coil_stream *stream = arg;
    ssize_t rc;

    for (size_t i = 0; (rc = coil_stream_wait_readable(stream)) == 0; i++)
        if ((rc = answer(stream, i % 50 < 40 ? 64 : 8192)) <= 0)
            break;
    coil_stream_destroy(stream);
    return (int)rc;
}

NET_TEST(wait_readable_serves_small_and_large_reads)
{
    coil_stream *ends[2];
    coil_task *task;
    char sent[3000], back[3000];

    connect_streams(ends);
    CHECK_INT(coil_spawn(serve, ends[1], NULL, &task), 0);
    for (size_t i = 0; i < 300; i++) {
        size_t n = i % 7 == 6 ? sizeof sent : 1 + i;

        for (size_t j = 0; j < n; j++)
            sent[j] = (char)pattern_byte(i + j);
        CHECK_INT(coil_write(ends[0], sent, n), n);
        CHECK_INT(coil_read_exact(ends[0], back, n), n);
        CHECK(memcmp(sent, back, n) == 0);
    }
    coil_stream_destroy(ends[0]);
    finish(task);
}

/* ---- who may wait ------------------------------------------------------------------ */

NET_TEST(wait_readable_is_the_one_call_that_reads)
{
    coil_stream *ends[2];
    char byte;

    connect_streams(ends);
    struct waiting w = {.stream = ends[1]};
    coil_task *task = start(&w);
    CHECK_INT(coil_stream_wait_readable(ends[1]), -EBUSY);
    CHECK_INT(coil_read(ends[1], &byte, 1), -EBUSY);
    CHECK_INT(coil_write(ends[1], "y", 1), 1);
    CHECK(!w.ended);
    CHECK_INT(coil_write(ends[0], "x", 1), 1);
    finish(task);
    CHECK_INT(coil_read(ends[1], &byte, 1), 1);
    destroy_streams(ends);
}

static int do_read(void *arg)
{
    char byte;

    return coil_read(arg, &byte, 1) == 1 ? 0 : -EIO;
}

NET_TEST(wait_readable_while_another_reads_is_refused)
{
    coil_stream *ends[2];
    coil_task *task;

    connect_streams(ends);
    CHECK_INT(coil_spawn(do_read, ends[1], NULL, &task), 0);
    settle();
    CHECK_INT(coil_stream_wait_readable(ends[1]), -EBUSY);
    CHECK_INT(coil_write(ends[0], "x", 1), 1);
    finish(task);
    destroy_streams(ends);
}

/* ---- its end ----------------------------------------------------------------------- */

/*
 * Send and receive a byte `rounds` times, because a backend treats a stream differently
 * after some reads.
 */
static void warm_up(coil_stream *ends[2], int rounds)
{
    char byte;

    for (int i = 0; i < rounds; i++) {
        CHECK_INT(coil_write(ends[0], "x", 1), 1);
        CHECK_INT(coil_stream_wait_readable(ends[1]), 0);
        CHECK_INT(coil_read(ends[1], &byte, 1), 1);
    }
}

NET_TEST(wait_readable_ends_when_the_stream_is_closed)
{
    for (int i = 0; i < 6; i++) {
        coil_stream *ends[2];

        connect_streams(ends);
        warm_up(ends, i / 2);
        struct waiting w = {.stream = ends[1]};
        coil_task *task = start(&w);
        if (i % 2 == 0) {
            CHECK_INT(coil_stream_close(ends[1]), 0);
            finish(task);
            CHECK_INT(coil_stream_wait_readable(ends[1]), -EBADF);
            coil_stream_destroy(ends[1]);
        } else {
            coil_stream_destroy(ends[1]);
            finish(task);
        }
        CHECK_INT(w.rc, -EBADF);
        coil_stream_destroy(ends[0]);
    }
}

NET_TEST(wait_readable_that_is_cancelled_has_taken_nothing)
{
    coil_stream *ends[2];
    char byte;

    connect_streams(ends);
    for (int i = 0; i < 6; i++) {
        struct waiting w = {.stream = ends[1]};
        coil_task *task = start(&w);

        coil_task_cancel(task, NULL);
        if (i % 2 == 1)
            CHECK_INT(coil_write(ends[0], "x", 1), 1);
        finish_cancelled(task);
        if (i % 2 == 0)
            CHECK_INT(w.rc, -ECANCELED);
        else
            CHECK_INT(coil_read(ends[1], &byte, 1), 1);
        warm_up(ends, i / 2);
    }
    destroy_streams(ends);
}

NET_TEST(wait_readable_ends_at_a_deadline)
{
    coil_stream *ends[2];
    coil_scope scope;

    connect_streams(ends);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(coil_scope_enter(&scope, coil_in(COIL_MSEC(1))), 0);
        CHECK_INT(coil_scope_exit(&scope, coil_stream_wait_readable(ends[1])),
                  -ETIMEDOUT);
        warm_up(ends, i);
    }
    destroy_streams(ends);
}

static int wait_in_vain_and_again(void *arg)
{
    struct waiting *w = arg;
    coil_scope scope;

    for (int i = 0; i < 200 && w->rc == 0; i++) {
        int rc = coil_scope_enter(&scope, coil_in(COIL_USEC(i % 5 * 20)));

        if (rc == 0)
            rc = coil_scope_exit(&scope, coil_stream_wait_readable(w->stream));
        w->rc = rc == -ETIMEDOUT ? 0 : rc;
    }
    return w->rc;
}

/*
 * The operation of a wait is part of the stream, so a wait must have ended completely
 * before the next wait begins.
 */
IO_TEST(wait_readable_again_and_again_in_vain)
{
    coil_stream *ends[2];

    make_stream_pair(ends);
    for (int i = 0; i < 3; i++) {
        struct waiting w = {.stream = ends[1]};

        warm_up(ends, i);
        CHECK_INT(test_join(test_spawn(wait_in_vain_and_again, &w)), 0);
    }
    destroy_streams(ends);
}

static int spin(void *arg)
{
    int *rounds = arg, rc = 0;

    while (rc == 0 && *rounds >= 0) {
        ++*rounds;
        rc = coil_yield();
    }
    return rc;
}

IO_TEST(wait_readable_lets_others_run_though_it_need_not_wait)
{
    coil_stream *ends[2];
    coil_task *task;
    int rounds = 0, tries = 0;

    make_stream_pair(ends);
    CHECK_INT(coil_write(ends[0], "x", 1), 1);
    CHECK_INT(coil_spawn(spin, &rounds, NULL, &task), 0);
    while (rounds < 3 && tries++ < 1000000)
        CHECK_INT(coil_stream_wait_readable(ends[1]), 0);
    CHECK(rounds >= 3);
    rounds = -1000;
    finish(task);
    destroy_streams(ends);
}

/* ---- where it lies ----------------------------------------------------------------- */

static bool is_on_stack(const coil_task *task, const void *address)
{
    return (uintptr_t)address >= (uintptr_t)task->coro.stack.low &&
           (uintptr_t)address < (uintptr_t)task->coro.stack.high;
}

NET_TEST(wait_readable_names_nothing_of_the_stack)
{
    coil_stream *ends[2];

    connect_streams(ends);
    for (int i = 0; i < 3; i++) {
        warm_up(ends, i);
        struct waiting w = {.stream = ends[1]};
        coil_task *task = start(&w);
        CHECK(task->wait != NULL && !is_on_stack(task, task->wait));
        coil_task_cancel(task, NULL);
        finish_cancelled(task);
    }
    destroy_streams(ends);
}

NET_TEST(wait_readable_is_described)
{
    coil_stream *ends[2];
    coil_waiting waiting;

    connect_streams(ends);
    struct waiting w = {.stream = ends[1]};
    coil_task *task = start(&w);
    CHECK_INT(coil_task_waiting(task, &waiting), 1);
    CHECK_STR(waiting.what, "wait_readable");
    CHECK_INT(waiting.fd, coil_stream_fd(ends[1]));
    coil_task_cancel(task, NULL);
    finish_cancelled(task);
    destroy_streams(ends);
}

static int wait_after_a_line(void *arg)
{
    char line[16];
    int rc = (int)coil_read_line(arg, line, sizeof line);

    return rc < 0 ? rc : coil_stream_wait_readable(arg);
}

IO_TEST(wait_readable_holds_no_empty_buffer)
{
    coil_stream *ends[2];
    coil_task *task;
    char line[16];

    make_stream_pair(ends);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_write(ends[0], "line\n", 5), 5);
        CHECK_INT(coil_spawn(wait_after_a_line, ends[1], NULL, &task), 0);
        settle();
        CHECK_PTR(ends[1]->buffer, NULL);
        CHECK_INT(coil_write(ends[0], "next\n", 5), 5);
        finish(task);
        CHECK_INT(coil_read_line(ends[1], line, sizeof line), 4);
        CHECK_STR(line, "next");
        CHECK(ends[1]->buffer != NULL);
    }
    destroy_streams(ends);
}
