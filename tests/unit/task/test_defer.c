/*
 * test_defer.c - deferred calls, which are made after the task's function has returned.
 */
#include "../../harness/harness.h"

#include <coil.h>

static void note(void *arg)
{
    test_trace("%s ", (const char *)arg);
}

static int defer_two(void *arg)
{
    CHECK_INT(coil_defer(note, "first"), 0);
    CHECK_INT(coil_defer(note, "second"), 0);
    test_trace("body ");
    return *(int *)arg;
}

static int run(coil_task_fn fn, void *arg)
{
    coil_task *task;
    int rc = coil_spawn(fn, arg, NULL, &task);

    CHECK_INT(rc, 0);
    rc = coil_task_await(task);
    coil_task_release(task);
    return rc;
}

TASK_TEST(deferred_calls_are_made_last_in_first_out)
{
    int rc = 42;

    CHECK_INT(run(defer_two, &rc), 42);
    CHECK_TRACE("body second first ");
}

TASK_TEST(deferred_calls_are_made_after_a_failure_too)
{
    int rc = -EIO;

    CHECK_INT(run(defer_two, &rc), -EIO);
    CHECK_TRACE("body second first ");
}

static void sleep_a_second(void *arg)
{
    test_trace("%s:%d ", (const char *)arg, coil_sleep(COIL_SEC(1)));
}

static int defer_sleep(void *arg)
{
    int rc = coil_defer(sleep_a_second, "slept");

    return rc < 0 ? rc : coil_sleep(*(int64_t *)arg);
}

TASK_TEST(deferred_calls_may_suspend)
{
    int64_t nothing = 0, began = coil_now();

    CHECK_INT(run(defer_sleep, &nothing), 0);
    CHECK_INT(coil_now() - began, COIL_SEC(1));
    CHECK_TRACE("slept:0 ");
}

TASK_TEST(a_cancellation_stands_in_deferred_calls)
{
    int64_t long_time = COIL_SEC(100);
    coil_task *task;

    CHECK_INT(coil_spawn(defer_sleep, &long_time, NULL, &task), 0);
    CHECK_INT(coil_yield(), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK_TRACE("slept:-125 ");
    coil_task_release(task);
}

static void defer_more(void *arg)
{
    note(arg);
    CHECK_INT(coil_defer(note, "more"), 0);
}

static int defer_that_defers(void *arg)
{
    CHECK_INT(coil_defer(note, "last"), 0);
    return coil_defer(defer_more, arg);
}

TASK_TEST(deferred_calls_may_defer)
{
    CHECK_INT(run(defer_that_defers, "early"), 0);
    CHECK_TRACE("early more last ");
}

static int defer_without_memory(void *arg)
{
    int rc;

    test_fail_allocation(1);
    rc = coil_defer(note, arg);
    test_fail_allocation(0);
    return rc;
}

TASK_TEST(defer_without_memory_is_an_error_return)
{
    CHECK_INT(run(defer_without_memory, "never"), -ENOMEM);
    CHECK_TRACE("");
}

TASK_TEST(a_task_that_never_began_has_deferred_nothing)
{
    int64_t nothing = 0;
    coil_task *task;

    CHECK_INT(coil_spawn(defer_sleep, &nothing, NULL, &task), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK_TRACE("");
    coil_task_release(task);
}

static void defer_outside(void *arg)
{
    coil_defer(note, arg);
}

TEST(defer_outside_a_task_stops_the_program)
{
    test_dies(defer_outside, NULL, "coil_defer: no task is running here");
}
