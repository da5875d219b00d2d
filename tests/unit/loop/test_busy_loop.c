/*
 * test_busy_loop.c - I/O while tasks or callbacks are always ready.
 *
 * Some of the steps write a byte to a pipe, and the tests count the steps until a task
 * has read that byte. On a busy machine steps take longer, but their number stays the
 * same.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <unistd.h>

/* Longer than the maximum time between two polls. */
#define LONG_STEP COIL_USEC(500)

struct busy {
    int fds[2];
    coil_stream *stream;
    coil_task *reader;
    int steps, written_at; /* number of the step that wrote the last byte */
    int written, got;
    int worst; /* largest number of steps between writing a byte and reading it */
    int left;  /* remaining steps */
    int64_t step_ns;
    coil_timer timer;
};

static int read_bytes(void *arg)
{
    struct busy *b = arg;
    char byte;
    ssize_t rc;

    while ((rc = coil_read(b->stream, &byte, 1)) == 1) {
        int waited = b->steps - b->written_at;

        b->got++;
        if (waited > b->worst)
            b->worst = waited;
    }
    return (int)rc;
}

static void begin(struct busy *b, int steps)
{
    *b = (struct busy){.left = steps, .step_ns = LONG_STEP};
    CHECK_INT(pipe(b->fds), 0);
    CHECK_INT(coil_stream_adopt(b->fds[0], &b->stream), 0);
    b->reader = test_spawn(read_bytes, b);
    coil_yield();
}

static void end(struct busy *b)
{
    CHECK(b->got >= 3);
    close(b->fds[1]);
    CHECK_INT(test_join(b->reader), 0);
    coil_stream_destroy(b->stream);
}

/*
 * Keep the processor busy for one step. Then write a byte if the previous one was read.
 * Returns false after the last step.
 */
static bool work(struct busy *b)
{
    int64_t until = coil_now() + b->step_ns;

    while (coil_now() < until)
        ;
    b->steps++;
    if (b->written == b->got) {
        CHECK_INT(write(b->fds[1], "x", 1), 1);
        b->written++;
        b->written_at = b->steps;
    }
    return --b->left > 0;
}

static int work_and_yield(void *arg)
{
    while (work(arg))
        CHECK_INT(coil_yield(), 0);
    return 0;
}

IO_TEST(busy_task_that_yields_lets_io_in_after_each_long_step)
{
    struct busy b;

    begin(&b, 30);
    work_and_yield(&b);
    CHECK(b.worst <= 3);
    end(&b);
}

static void work_and_call(void *arg)
{
    struct busy *b = arg;

    if (work(b))
        CHECK_INT(coil_call_soon(work_and_call, b, NULL), 0);
}

static void wait_until_done(struct busy *b)
{
    while (b->left > 0)
        CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
}

IO_TEST(busy_callbacks_let_io_in_after_each_long_one)
{
    struct busy b;

    begin(&b, 30);
    work_and_call(&b);
    wait_until_done(&b);
    CHECK(b.worst <= 3);
    end(&b);
}

static void work_and_start_timer(void *arg)
{
    struct busy *b = arg;

    if (work(b))
        CHECK_INT(coil_timer_start(&b->timer, coil_now()), 0);
}

IO_TEST(busy_timers_that_are_always_due_let_io_in)
{
    struct busy b;

    begin(&b, 30);
    coil_timer_init(&b.timer, work_and_start_timer, &b);
    work_and_start_timer(&b);
    wait_until_done(&b);
    CHECK(b.worst <= 3);
    end(&b);
}

/*
 * As in asyncio, a turn is not interrupted: the loop handles I/O only after all ready
 * tasks have run.
 */
IO_TEST(busy_turn_of_many_long_steps_is_followed_by_a_poll)
{
    enum { TASKS = 12 };
    struct busy b;
    coil_group g;

    begin(&b, 6 * TASKS);
    coil_group_enter(&g);
    for (int i = 0; i < TASKS; i++)
        CHECK_INT(coil_group_spawn(&g, work_and_yield, &b, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK(b.worst <= 2 * TASKS + 1);
    end(&b);
}

/*
 * While steps are short, the loop reads the clock only in every 64th turn, so it does not
 * notice the first long steps. After that, the loop reads the clock more often for a
 * while.
 */
IO_TEST(busy_task_with_occasional_long_steps_delays_io_once)
{
    struct busy b;

    begin(&b, 0);
    for (int phase = 0; phase < 4; phase++) {
        for (int i = 0; i < 1000; i++)
            CHECK_INT(coil_yield(), 0);
        b.left = 80;
        work_and_yield(&b);
        CHECK(b.worst <= (phase == 0 ? 68 : 11));
        while (b.got < b.written)
            CHECK_INT(coil_yield(), 0);
        b.worst = 0;
    }
    end(&b);
}

/* The loop polls after at most 250 us, so the durations of short steps add up. */
IO_TEST(busy_task_with_shorter_steps_lets_io_in_after_some_of_them)
{
    struct busy b;

    begin(&b, 200);
    b.step_ns = COIL_USEC(50);
    work_and_yield(&b);
    CHECK(b.worst <= 8);
    end(&b);
}
