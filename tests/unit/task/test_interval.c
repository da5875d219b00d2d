/*
 * test_interval.c - waking up at a fixed rate.
 */
#include "../../harness/harness.h"

#include <coil.h>
#include <limits.h>

TASK_TEST(interval_ticks_on_a_grid_whatever_the_body_takes)
{
    coil_interval ticks;
    int64_t start = coil_now();

    coil_interval_init(&ticks, COIL_MSEC(100));
    for (int i = 1; i <= 50; i++) {
        CHECK_INT(coil_interval_wait(&ticks), 1);
        CHECK_INT(coil_now() - start, i * COIL_MSEC(100));
        CHECK_INT(coil_sleep(COIL_MSEC(i)), 0);
    }
}

TASK_TEST(interval_counts_the_ticks_that_were_missed)
{
    coil_interval ticks;
    int64_t start = coil_now();

    coil_interval_init(&ticks, COIL_MSEC(100));
    CHECK_INT(coil_sleep(COIL_MSEC(350)), 0);
    CHECK_INT(coil_interval_wait(&ticks), 3);
    CHECK_INT(coil_now() - start, COIL_MSEC(350));
    CHECK_INT(coil_interval_wait(&ticks), 1);
    CHECK_INT(coil_now() - start, COIL_MSEC(400));
}

static int wait_once(void *arg)
{
    return coil_interval_wait(arg);
}

TASK_TEST(interval_that_is_cancelled_loses_no_tick)
{
    coil_interval ticks;
    coil_task *task;

    coil_interval_init(&ticks, COIL_MSEC(100));
    CHECK_INT(coil_spawn(wait_once, &ticks, NULL, &task), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(50)), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    CHECK_INT(coil_sleep(COIL_MSEC(100)), 0);
    CHECK_INT(coil_interval_wait(&ticks), 1);
}

static int count_turns(void *arg)
{
    while (coil_yield() == 0)
        ++*(int *)arg;
    return 0;
}

/*
 * Other tasks must be able to run even if the work always takes longer than the interval.
 */
TASK_TEST(interval_always_lets_the_others_run)
{
    coil_interval ticks;
    coil_task *other;
    int turns = 0;

    CHECK_INT(coil_spawn(count_turns, &turns, NULL, &other), 0);
    coil_interval_init(&ticks, 1);
    for (int i = 1; i <= 10; i++) {
        ticks.next = coil_now() - COIL_SEC(1);
        CHECK(coil_interval_wait(&ticks) >= 1);
        CHECK(turns >= i - 1);
    }
    CHECK(turns > 0);
    coil_task_cancel(other, NULL);
    CHECK_INT(coil_task_await(other), 0);
    coil_task_release(other);
}

TASK_TEST(interval_that_is_reset_starts_its_grid_anew)
{
    coil_interval ticks;
    int64_t start = coil_now();

    coil_interval_init(&ticks, COIL_MSEC(100));
    CHECK_INT(coil_sleep(COIL_MSEC(30)), 0);
    coil_interval_reset(&ticks);
    CHECK_INT(coil_interval_wait(&ticks), 1);
    CHECK_INT(coil_now() - start, COIL_MSEC(130));
}

TASK_TEST(interval_saturates)
{
    coil_interval ticks = {.period_ns = 1, .next = 0};

    CHECK_INT(coil_sleep(COIL_SEC(10)), 0);
    CHECK_INT(coil_interval_wait(&ticks), INT_MAX);
}

static void make_interval_of_nothing(void *arg)
{
    (void)arg;
    coil_interval_init(&(coil_interval){0}, 0);
}

TEST(interval_of_no_period_stops_the_program)
{
    test_dies(make_interval_of_nothing, NULL, "coil_interval_init: a period of 0 ns");
}
