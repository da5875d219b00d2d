/*
 * test_copy.c - copying from one stream to another: all bytes, a limited number, with
 * cancellations, and with failures.
 */
#include "../socket/sockets.h"
#include "transfer.h"

#include "../../harness/harness.h"

#include <string.h>

#define SIZE ((size_t)1024 * 1024 + 12345)

/*
 * A task writes a pattern to `source`, the tested call copies from between[0] to
 * between[1], and another task reads the pattern from `sink` and checks it.
 */
struct chain {
    coil_stream *source, *between[2], *sink;
    size_t size;
    size_t received, wrong;
    int64_t pause_ns; /* the sink pauses every 100,000 bytes */
    coil_task *tasks[2];
};

static int write_pattern(void *arg)
{
    struct chain *c = arg;
    unsigned char *bytes = malloc(c->size + 1);
    ssize_t n;

    for (size_t i = 0; i < c->size; i++)
        bytes[i] = pattern_byte(i);
    n = coil_write(c->source, bytes, c->size);
    free(bytes);
    coil_stream_close(c->source);
    return n < 0 ? (int)n : 0;
}

static int read_pattern(void *arg)
{
    struct chain *c = arg;
    unsigned char bytes[10007];
    ssize_t n;

    while ((n = coil_read(c->sink, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            c->wrong += bytes[i] != pattern_byte(c->received + (size_t)i);
        if (c->received / 100000 != (c->received + (size_t)n) / 100000)
            coil_sleep(c->pause_ns);
        c->received += (size_t)n;
    }
    return (int)n;
}

static void begin(struct chain *c, coil_stream *first[2], coil_stream *second[2])
{
    c->source = first[0];
    c->between[0] = first[1];
    c->between[1] = second[0];
    c->sink = second[1];
    CHECK_INT(coil_spawn(write_pattern, c, NULL, &c->tasks[0]), 0);
    CHECK_INT(coil_spawn(read_pattern, c, NULL, &c->tasks[1]), 0);
}

static void begin_with_connections(struct chain *c)
{
    coil_stream *first[2], *second[2];

    connect_streams(first);
    connect_streams(second);
    begin(c, first, second);
}

/* Close the stream to the sink, and check that all bytes arrive. */
static void end(struct chain *c)
{
    coil_stream_close(c->between[1]);
    finish(c->tasks[0]);
    finish(c->tasks[1]);
    CHECK_INT(c->received, c->size);
    CHECK_INT(c->wrong, 0);
    coil_stream_destroy(c->source);
    coil_stream_destroy(c->between[0]);
    coil_stream_destroy(c->between[1]);
    coil_stream_destroy(c->sink);
}

NET_TEST(copy_moves_everything_until_the_end)
{
    struct chain c = {.size = SIZE};

    begin_with_connections(&c);
    CHECK_INT(coil_copy(c.between[0], c.between[1]), SIZE);
    CHECK_INT(coil_stream_read_transferred(c.between[0]), SIZE);
    CHECK_INT(coil_stream_write_transferred(c.between[1]), SIZE);
    CHECK(coil_stream_at_end(c.between[0]));
    CHECK_INT(coil_copy(c.between[0], c.between[1]), 0);
    end(&c);
}

NET_TEST(copy_of_nothing_is_nothing)
{
    struct chain c = {.size = 0};

    begin_with_connections(&c);
    CHECK_INT(coil_copy_n(c.between[0], c.between[1], 0), 0);
    CHECK_INT(coil_copy(c.between[0], c.between[1]), 0);
    end(&c);
}

/* A copy ends at its limit, and the next copy continues with the next byte. */
NET_TEST(copy_n_leaves_what_is_beyond_its_limit)
{
    static const size_t limits[] = {1, 5000, 3, 65536, 100000};
    struct chain c = {.size = SIZE};
    size_t sum = 0;

    begin_with_connections(&c);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        CHECK_INT(coil_copy_n(c.between[0], c.between[1], limits[i]), limits[i]);
        sum += limits[i];
    }
    CHECK_INT(coil_copy_n(c.between[0], c.between[1], SIZE), SIZE - sum);
    end(&c);
}

NET_TEST(copy_begins_with_what_was_peeked_at)
{
    coil_stream *first[2], *second[2];
    const void *seen;
    char line[8];

    connect_streams(first);
    connect_streams(second);
    CHECK_INT(coil_write(first[0], "one\ntwo", 7), 7);
    CHECK_INT(coil_stream_shutdown_write(first[0]), 0);
    CHECK_INT(coil_peek(first[1], &seen, 7), 7);
    CHECK_INT(coil_read_line(first[1], line, sizeof line), 3);
    CHECK_INT(coil_copy(first[1], second[0]), 3);
    CHECK_INT(coil_read_exact(second[1], line, 3), 3);
    CHECK(memcmp(line, "two", 3) == 0);
    for (int i = 0; i < 2; i++) {
        coil_stream_destroy(first[i]);
        coil_stream_destroy(second[i]);
    }
}

static int copy_back(void *arg)
{
    ssize_t n = coil_copy(arg, arg);

    CHECK_INT(n, 10);
    return n < 0 ? (int)n : coil_stream_shutdown_write(arg);
}

NET_TEST(copy_to_the_stream_itself_is_an_echo)
{
    coil_stream *ends[2];
    coil_task *echo;
    char buf[16];

    connect_streams(ends);
    CHECK_INT(coil_spawn(copy_back, ends[1], NULL, &echo), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(coil_write(ends[0], "hello", 5), 5);
        CHECK_INT(coil_read_exact(ends[0], buf, 5), 5);
    }
    CHECK_INT(coil_stream_shutdown_write(ends[0]), 0);
    CHECK_INT(coil_read(ends[0], buf, sizeof buf), 0);
    finish(echo);
    destroy_streams(ends);
}

/*
 * Make a pipe. Unlike coil_pipe(), store the writing end in ends[0], because callers
 * close ends[0] first.
 */
static void make_pipe(coil_stream *ends[2])
{
    coil_stream *swapped[2];

    CHECK_INT(coil_pipe(swapped), 0);
    ends[0] = swapped[1];
    ends[1] = swapped[0];
}

IO_TEST(copy_from_a_pipe_to_a_socket_and_to_a_pipe)
{
    for (int to_pipe = 0; to_pipe < 2; to_pipe++) {
        struct chain c = {.size = SIZE};
        coil_stream *first[2], *second[2];

        make_pipe(first);
        if (to_pipe)
            make_pipe(second);
        else
            make_stream_pair(second);
        begin(&c, first, second);
        CHECK_INT(coil_copy(c.between[0], c.between[1]), SIZE);
        end(&c);
    }
}

/* ---- cancelled and failed ---------------------------------------------------------- */

/*
 * Cancel copies repeatedly. The sum of all counts must equal the number of received
 * bytes.
 */
NET_TEST(copy_cancelled_loses_no_byte)
{
    struct chain c = {.size = SIZE, .pause_ns = COIL_MSEC(1)};
    size_t sum = 0;
    ssize_t n;

    begin_with_connections(&c);
    do {
        coil_scope s;

        coil_scope_enter(&s, coil_in(COIL_USEC(200)));
        n = coil_copy(c.between[0], c.between[1]);
        CHECK_INT(coil_stream_read_transferred(c.between[0]),
                  coil_stream_write_transferred(c.between[1]));
        sum += coil_stream_write_transferred(c.between[1]);
        n = n < 0 ? n : 0;
        n = coil_scope_exit(&s, (int)n);
    } while (n == -ETIMEDOUT);
    CHECK_INT(n, 0);
    CHECK_INT(sum, SIZE);
    end(&c);
}

/* Cancel a copy that is waiting because the receiver does not read. */
IO_TEST(copy_cancelled_while_it_writes_keeps_what_was_read)
{
    struct chain c = {.size = SIZE};
    coil_stream *first[2], *second[2];
    struct copying copying;
    coil_task *task;
    size_t done;

    CHECK_INT(coil_stream_pair(first), 0);
    CHECK_INT(coil_stream_pair(second), 0);
    copying = (struct copying){.from = first[1], .to = second[0]};
    CHECK_INT(coil_spawn(do_copy, &copying, NULL, &task), 0);
    c.source = first[0];
    CHECK_INT(coil_spawn(write_pattern, &c, NULL, &c.tasks[0]), 0);
    settle();
    coil_task_cancel(task, NULL);
    finish(task);
    CHECK_INT(copying.result, -ECANCELED);
    done = coil_stream_write_transferred(second[0]);
    CHECK(done > 0 && done < SIZE);
    c.sink = second[1];
    c.between[0] = first[1];
    c.between[1] = second[0];
    CHECK_INT(coil_spawn(read_pattern, &c, NULL, &c.tasks[1]), 0);
    CHECK_INT(coil_copy(first[1], second[0]), SIZE - done);
    end(&c);
}

/* If a copy cannot write its bytes, the next read returns them. */
NET_TEST(copy_to_a_closed_stream_leaves_everything)
{
    coil_stream *first[2], *second[2];
    char buf[8];

    connect_streams(first);
    connect_streams(second);
    CHECK_INT(coil_write(first[0], "hello", 5), 5);
    coil_stream_close(second[0]);
    CHECK_INT(coil_copy(first[1], second[0]), -EBADF);
    CHECK_INT(coil_stream_read_transferred(first[1]), 0);
    CHECK_INT(coil_stream_write_transferred(second[0]), 0);
    CHECK_INT(coil_read_exact(first[1], buf, 5), 5);
    coil_stream_close(first[1]);
    CHECK_INT(coil_copy(first[1], second[1]), -EBADF);
    CHECK_INT(coil_stream_read_transferred(first[1]), 0);
    for (int i = 0; i < 2; i++) {
        coil_stream_destroy(first[i]);
        coil_stream_destroy(second[i]);
    }
}

NET_TEST(copy_keeps_other_readers_and_writers_out)
{
    coil_stream *first[2], *second[2];
    struct copying c;
    coil_task *task;
    char buf[8];

    connect_streams(first);
    connect_streams(second);
    c = (struct copying){first[1], second[0], 0};
    CHECK_INT(coil_spawn(do_copy, &c, NULL, &task), 0);
    settle();
    CHECK_INT(coil_read(first[1], buf, 1), -EBUSY);
    CHECK_INT(coil_write(second[0], buf, 1), -EBUSY);
    CHECK_INT(coil_copy(first[1], second[1]), -EBUSY);
    coil_stream_close(first[1]);
    finish(task);
    CHECK_INT(c.result, -EBADF);
    for (int i = 0; i < 2; i++) {
        coil_stream_destroy(first[i]);
        coil_stream_destroy(second[i]);
    }
}

/* Destroy the source or the destination during a copy. */
IO_TEST(copy_ends_when_a_stream_is_destroyed)
{
    for (int which = 0; which < 2; which++) {
        coil_stream *first[2], *second[2];
        struct copying c;
        coil_task *task;

        make_stream_pair(first);
        make_stream_pair(second);
        c = (struct copying){first[1], second[0], 0};
        CHECK_INT(coil_spawn(do_copy, &c, NULL, &task), 0);
        settle();
        CHECK_INT(coil_write(first[0], "x", 1), 1);
        if (which == 1) {
            coil_stream_destroy(second[0]);
            CHECK_INT(coil_write(first[0], "x", 1), 1);
        } else {
            coil_stream_destroy(first[1]);
        }
        finish(task);
        CHECK_INT(c.result, -EBADF);
        coil_stream_destroy(first[0]);
        coil_stream_destroy(second[1]);
        coil_stream_destroy(which == 1 ? first[1] : second[0]);
    }
}

IO_TEST(copy_without_memory)
{
    coil_stream *first[2], *second[2];
    char byte;

    make_stream_pair(first);
    make_stream_pair(second);
    CHECK_INT(coil_write(first[0], "x", 1), 1);
    test_fail_allocation(1);
    CHECK_INT(coil_copy(first[1], second[0]), -ENOMEM);
    test_fail_allocation(0);
    CHECK_INT(coil_copy_n(first[1], second[0], 1), 1);
    CHECK_INT(coil_read(second[1], &byte, 1), 1);
    for (int i = 0; i < 2; i++) {
        coil_stream_destroy(first[i]);
        coil_stream_destroy(second[i]);
    }
}

/* ---- fairness ---------------------------------------------------------------------- */

enum { MUCH = 8 << 20 };

/* Write MUCH bytes. On a busy machine, the write may end before the task is cancelled. */
static int write_much(void *arg)
{
    ssize_t n = coil_write(arg, test_memory(MUCH), MUCH);

    return n < 0 ? (int)n : 0;
}

struct due {
    const coil_stream *stream;
    size_t copied; /* number of bytes copied when the timer fired */
};

static void note_copied(void *arg)
{
    struct due *due = arg;

    due->copied = coil_stream_write_transferred(due->stream);
}

/*
 * A copy that never has to wait yields once it has copied 256 KiB, the amount that
 * asyncio reads from a socket in one turn, and has completed the current piece.
 */
IO_TEST(copy_of_much_that_need_not_wait_lets_timers_fire)
{
    coil_stream *from[2], *to[2];
    struct due due;
    coil_task *task;
    coil_timer timer;

    make_stream_pair(from);
    make_stream_pair(to);
    CHECK_INT(coil_spawn(write_much, from[0], NULL, &task), 0);
    settle(); /* wait until the kernel's buffers are full */
    due.stream = to[0];
    due.copied = SIZE_MAX;
    /* after that, the next read does not wait */
    CHECK_INT(coil_copy_n(from[1], to[0], 65536), 65536);
    coil_timer_init(&timer, note_copied, &due);
    CHECK_INT(coil_timer_start(&timer, coil_now()), 0);
    CHECK_INT(coil_copy_n(from[1], to[0], 2 << 20), 2 << 20);
    CHECK(due.copied <= 512 << 10);
    coil_timer_stop(&timer);
    coil_task_cancel(task, NULL);
    finish_cancelled(task);
    for (int i = 0; i < 2; i++) {
        coil_stream_destroy(from[i]);
        coil_stream_destroy(to[i]);
    }
}
