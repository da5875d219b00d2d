/*
 * test_wait_for.c - awaiting a future with a time limit.
 */
#include "../../harness/harness.h"

#include <coil.h>

static coil_task *start(coil_task_fn fn, void *arg)
{
    coil_task *t = NULL;

    CHECK_INT(coil_spawn(fn, arg, &(coil_spawn_opts){.name = "t"}, &t), 0);
    coil_yield();
    return t;
}

static int nap(void *arg)
{
    int rc = coil_sleep(COIL_MSEC(*(int *)arg));

    return rc < 0 ? rc : *(int *)arg;
}

static int wait_for_and_release(coil_task *task, int64_t deadline)
{
    int rc = coil_wait_for(coil_task_future(task), deadline);

    test_trace("%d %s@%ld ", rc,
               coil_future_cancelled(coil_task_future(task)) ? "gone" : "",
               (long)(coil_now() / COIL_MSEC(1)));
    coil_task_release(task);
    return rc;
}

static int five = 5, fifty = 50;

TASK_TEST(wait_for_returns_the_result_in_time)
{
    wait_for_and_release(start(nap, &five), coil_in(COIL_MSEC(10)));
    wait_for_and_release(start(nap, &five), COIL_NEVER);
    CHECK_TRACE("5 @5 5 @10 ");
}

TASK_TEST(wait_for_cancels_at_the_deadline_and_waits_for_the_end)
{
    coil_cancel_origin origin;
    coil_task *t = coil_task_retain(start(nap, &fifty));

    wait_for_and_release(t, coil_in(COIL_MSEC(10)));
    CHECK_TRACE("-110 gone@10 ");
    CHECK_INT(coil_sleep(1), 0);
    CHECK(coil_task_cancel_origin(t, &origin));
    CHECK_STR(origin.reason, "deadline");
    coil_task_release(t);
}

TASK_TEST(wait_for_with_a_deadline_that_has_passed_still_takes_what_is_done)
{
    coil_future *future;

    wait_for_and_release(start(nap, &fifty), coil_in(0));
    wait_for_and_release(start(nap, &fifty), coil_in(-5));
    CHECK_TRACE("-110 gone@0 -110 gone@0 ");
    CHECK_INT(coil_future_create(&future), 0);
    coil_future_set(future, 7, NULL, NULL);
    CHECK_INT(coil_wait_for(future, coil_in(-1)), 7);
    coil_future_release(future);
    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_wait_for(future, coil_in(-1)), -ETIMEDOUT);
    CHECK(coil_future_cancelled(future));
    coil_future_release(future);
}

static int take_its_time(void *arg)
{
    if (coil_sleep(COIL_SEC(1)) == -ECANCELED)
        coil_cancel_caught();
    coil_sleep(COIL_MSEC(3));
    return *(int *)arg;
}

/*
 * The result must be the same whether or not the deadline has already passed when
 * coil_wait_for() is called.
 */
TASK_TEST(wait_for_returns_what_a_task_returns_that_did_not_listen)
{
    static int forty_two = 42, eio = -EIO;

    wait_for_and_release(start(take_its_time, &forty_two), coil_in(COIL_MSEC(10)));
    wait_for_and_release(start(take_its_time, &eio), coil_in(COIL_MSEC(10)));
    wait_for_and_release(start(take_its_time, &forty_two), coil_in(0));
    wait_for_and_release(start(take_its_time, &eio), coil_in(0));
    CHECK_TRACE("42 @13 -5 @26 42 @29 -5 @32 ");
    CHECK_INT(coil_task_cancelling(coil_task_current()), 0);
}

struct waiting {
    coil_task *inner;
    int64_t deadline;
};

static int wait_in_a_task(void *arg)
{
    struct waiting *w = arg;

    return coil_wait_for(coil_task_future(w->inner), w->deadline);
}

TASK_TEST(cancelling_wait_for_cancels_the_future)
{
    int64_t deadlines[] = {COIL_NEVER, COIL_SEC(1), 0};

    for (int i = 0; i < 3; i++) {
        struct waiting w = {.inner = start(take_its_time, &five),
                            .deadline = deadlines[i]};
        coil_task *waiter = start(wait_in_a_task, &w);

        CHECK(coil_task_cancel(waiter, NULL));
        CHECK_INT(coil_task_await(waiter), i < 2 ? 5 : -ECANCELED);
        CHECK_INT(coil_task_await(w.inner), 5);
        coil_task_release(waiter);
        coil_task_release(w.inner);
    }
}

static int cancelled_by_itself(void *arg)
{
    (void)arg;
    return -ECANCELED;
}

TASK_TEST(wait_for_a_future_that_somebody_else_cancels_is_no_timeout)
{
    CHECK_INT(
        wait_for_and_release(start(cancelled_by_itself, NULL), coil_in(COIL_SEC(1))),
        -ECANCELED);
    CHECK_INT(coil_sleep(1), 0);
}
