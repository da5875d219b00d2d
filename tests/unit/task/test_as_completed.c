/*
 * test_as_completed.c - getting futures in the order in which they complete.
 */
#include "../../harness/harness.h"

#include <coil.h>

enum { N = 3 };

static coil_future *f[N];

static void create_all(void)
{
    for (int i = 0; i < N; i++)
        CHECK_INT(coil_future_create(&f[i]), 0);
}

static void release_all(void)
{
    for (int i = 0; i < N; i++)
        coil_future_release(f[i]);
}

static void set_to_nine(void *arg)
{
    CHECK_INT(coil_future_set(arg, 9, NULL, NULL), 0);
}

static void complete_after(int ms, coil_future *future)
{
    CHECK_INT(coil_call_later(COIL_MSEC(ms), set_to_nine, future, NULL), 0);
}

static int which(const coil_future *future)
{
    for (int i = 0; i < N; i++)
        if (f[i] == future)
            return i;
    return -1;
}

/* Get the next future, and write its name, or the error, and the time to the trace. */
static int next(coil_as_completed *each)
{
    coil_future *out = NULL;
    int rc = coil_as_completed_next(each, &out);

    if (rc == 1)
        test_trace("f%d@%ld ", which(out), (long)(coil_now() / COIL_MSEC(1)));
    else
        test_trace("%d@%ld ", rc, (long)(coil_now() / COIL_MSEC(1)));
    return rc;
}

TASK_TEST(as_completed_returns_futures_in_the_order_of_completion)
{
    coil_as_completed each;

    create_all();
    complete_after(3, f[0]);
    complete_after(1, f[1]);
    complete_after(2, f[2]);
    CHECK_INT(coil_as_completed_init(&each, f, N, COIL_NEVER), 0);
    while (next(&each) > 0)
        ;
    CHECK_TRACE("f1@1 f2@2 f0@3 0@3 ");
    coil_as_completed_finish(&each);
    release_all();
}

TASK_TEST(as_completed_keeps_what_came_while_nobody_waited)
{
    coil_as_completed each;
    int fails = 0;

    create_all();
    complete_after(1, f[2]);
    coil_future_set(f[1], -EIO, NULL, NULL);
    CHECK_INT(coil_as_completed_init(&each, f, N, COIL_NEVER), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(2)), 0);
    next(&each);
    next(&each);
    CHECK_TRACE("f1@2 f2@2 ");
    coil_as_completed_finish(&each); /* one future is still pending */
    coil_as_completed_finish(&each);
    fails = coil_future_result(f[1]);
    CHECK_INT(fails, -EIO);
    coil_future_set(f[0], 0, NULL, NULL);
    release_all();
}

TASK_TEST(as_completed_times_out_once_for_each_that_was_late)
{
    coil_as_completed each;

    create_all();
    complete_after(1, f[2]);
    complete_after(9, f[1]);
    CHECK_INT(coil_as_completed_init(&each, f, N, coil_in(COIL_MSEC(5))), 0);
    while (next(&each) != 0)
        ;
    CHECK_TRACE("f2@1 -110@5 -110@5 0@5 ");
    CHECK_INT(coil_sleep(COIL_MSEC(10)), 0);
    CHECK_INT(coil_future_result(f[1]), 9);
    coil_as_completed_finish(&each);
    release_all();
}

TASK_TEST(as_completed_of_nothing_ends_at_once)
{
    coil_as_completed each;

    CHECK_INT(coil_as_completed_init(&each, NULL, 0, coil_in(COIL_SEC(1))), 0);
    next(&each);
    CHECK_TRACE("0@0 ");
    coil_as_completed_finish(&each);
    coil_as_completed_finish(NULL);
    memset(&each, 0, sizeof each);
    coil_as_completed_finish(&each);
}

static int take_one(void *arg)
{
    return next(arg);
}

static coil_task *start(coil_task_fn fn, void *arg)
{
    coil_task *t = NULL;

    CHECK_INT(coil_spawn(fn, arg, NULL, &t), 0);
    coil_yield();
    return t;
}

TASK_TEST(as_completed_serves_several_tasks_in_order)
{
    coil_as_completed each;
    coil_task *takers[N];

    create_all();
    CHECK_INT(coil_as_completed_init(&each, f, N, coil_in(COIL_MSEC(5))), 0);
    for (int i = 0; i < N; i++)
        takers[i] = start(take_one, &each);
    CHECK_INT(next(&each), 0); /* each future already has a waiting task */
    complete_after(1, f[1]);
    complete_after(1, f[0]);
    CHECK_INT(test_join(takers[0]), 1);
    CHECK_INT(test_join(takers[1]), 1);
    CHECK_INT(test_join(takers[2]), -ETIMEDOUT);
    CHECK_TRACE("0@0 f1@1 f0@1 -110@5 ");
    coil_as_completed_finish(&each);
    release_all();
}

/* Cancel a waiting task, both before and after it was woken. */
TASK_TEST(as_completed_loses_nothing_when_cancelled)
{
    coil_as_completed each;
    coil_task *first, *second;

    create_all();
    CHECK_INT(coil_as_completed_init(&each, f, N, COIL_NEVER), 0);
    first = start(take_one, &each);
    coil_task_cancel(first, NULL);
    CHECK_INT(test_join(first), -ECANCELED);
    first = start(take_one, &each);
    second = start(take_one, &each);
    coil_future_set(f[2], 0, NULL, NULL);
    coil_yield();
    coil_task_cancel(first, NULL);
    CHECK_INT(test_join(first), -ECANCELED);
    CHECK_INT(test_join(second), 1);
    coil_future_set(f[0], 0, NULL, NULL);
    coil_future_set(f[1], 0, NULL, NULL);
    while (next(&each) > 0)
        ;
    CHECK_TRACE("-125@0 -125@0 f2@0 f0@0 f1@0 0@0 ");
    coil_as_completed_finish(&each);
    release_all();
}

static void do_nothing(void *unused)
{
    (void)unused;
}

/* Start timers until the heap is full, so that one more timer needs an allocation. */
static int fill_table_of_timers(coil_timer *timers, int most)
{
    int n = 0, rc = 0;

    while (n < most && rc == 0) {
        coil_timer_init(&timers[n], do_nothing, NULL);
        test_fail_allocation(1);
        rc = coil_timer_start(&timers[n], coil_in(COIL_SEC(1000)));
        n += rc == 0;
    }
    test_fail_allocation(0);
    CHECK_INT(rc, -ENOMEM);
    return n;
}

TASK_TEST(as_completed_without_memory_awaits_nothing)
{
    coil_timer timers[64];
    coil_as_completed each;
    int started = fill_table_of_timers(timers, 64);

    create_all();
    /* the first allocation is for the block, and the second for the heap of timers */
    for (int n = 1; n <= 2; n++) {
        test_fail_allocation(n);
        CHECK_INT(coil_as_completed_init(&each, f, N, coil_in(COIL_SEC(1))), -ENOMEM);
        coil_as_completed_finish(&each);
    }
    test_fail_allocation(0);
    while (started > 0)
        coil_timer_stop(&timers[--started]);
    release_all();
}
