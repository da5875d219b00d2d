/* test_gather.c - waiting for many futures at once. */
#include "../../harness/harness.h"

#include <coil.h>

#include <pthread.h>

static coil_future *f[3];

static void create_all(void)
{
    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_future_create(&f[i]), 0);
}

static void release_all(void)
{
    for (int i = 0; i < 3; i++)
        coil_future_release(f[i]);
}

struct call {
    unsigned flags;
    coil_wait_mode mode;
    int64_t deadline;
    int rcs[3];
};

static int gather(void *arg)
{
    struct call *c = arg;
    int rc = coil_gather(f, 3, c->flags, c->rcs);

    test_trace("%d [%d %d %d] ", rc, c->rcs[0], c->rcs[1], c->rcs[2]);
    return rc;
}

static coil_task *start(coil_task_fn fn, struct call *call)
{
    coil_task *t;

    CHECK_INT(coil_spawn(fn, call, NULL, &t), 0);
    coil_yield();
    return t;
}

/* ---- what can be awaited ----------------------------------------------------------- */

struct countdown {
    coil_awaitable awaitable;
    int ticks;
};

static int countdown_await(void *self)
{
    struct countdown *c = self;
    int rc = 0;

    while (rc == 0 && c->ticks-- > 0)
        rc = coil_yield();
    return rc < 0 ? rc : 7;
}

static int promise_await(void *promise)
{
    return coil_promise_await(promise);
}

/*
 * A gather accepts futures and tasks. To include a promise or a custom awaitable, gather
 * a task that awaits it.
 */
TASK_TEST(gather_takes_whatever_can_be_awaited)
{
    struct countdown own = {{countdown_await}, 3};
    coil_future *future, *all[3];
    coil_task *of_promise, *of_own;
    coil_promise *promise;
    int rcs[3];

    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_promise_create(&promise), 0);
    CHECK_INT(coil_spawn(promise_await, promise, NULL, &of_promise), 0);
    CHECK_INT(coil_spawn(own.awaitable.await, &own, NULL, &of_own), 0);
    CHECK_INT(coil_future_set(future, 5, NULL, NULL), 0);
    CHECK_INT(coil_promise_set(promise, 6, NULL, NULL), 0);
    all[0] = future;
    all[1] = coil_task_future(of_promise);
    all[2] = coil_task_future(of_own);
    CHECK_INT(coil_gather(all, 3, 0, rcs), 0);
    CHECK_INT(rcs[0], 5);
    CHECK_INT(rcs[1], 6);
    CHECK_INT(rcs[2], 7);
    CHECK_INT(coil_wait(all, 3, COIL_WAIT_ALL, COIL_NEVER), 3);
    CHECK_INT(coil_wait_for(all[2], coil_in(COIL_MSEC(1))), 7);
    coil_task_release(of_own);
    coil_task_release(of_promise);
    coil_promise_release(promise);
    coil_future_release(future);
}

/* ---- all, or the first failure ----------------------------------------------------- */

TASK_TEST(gather_collects_results_in_place)
{
    struct call c = {0};
    coil_task *t;

    create_all();
    t = start(gather, &c);
    coil_future_set(f[2], 3, NULL, NULL);
    coil_yield();
    coil_future_set(f[0], 1, NULL, NULL);
    coil_future_set(f[1], 2, NULL, NULL);
    CHECK_INT(test_join(t), 0);
    CHECK_TRACE("0 [1 2 3] ");
    /* all futures are done, so the call does not suspend */
    CHECK_INT(coil_gather(f, 3, 0, NULL), 0);
    CHECK_INT(coil_gather(NULL, 0, 0, NULL), 0);
    CHECK_INT(coil_gather(f, 3, 8, NULL), -EINVAL);
    release_all();
}

TASK_TEST(gather_returns_the_first_failure_at_once)
{
    struct call c = {0};
    coil_task *t;

    create_all();
    t = start(gather, &c);
    coil_future_set(f[1], -EIO, NULL, NULL);
    CHECK_INT(test_join(t), -EIO);
    CHECK_TRACE("-5 [-115 -5 -115] ");
    CHECK(!coil_future_done(f[0]));
    coil_future_set(f[0], -EPROTO, NULL, NULL); /* not reported: gathered */
    release_all();
}

TASK_TEST(gather_all_waits_for_failures_too)
{
    struct call c = {.flags = COIL_GATHER_ALL};
    coil_task *t;

    create_all();
    t = start(gather, &c);
    coil_future_set(f[1], -EIO, NULL, NULL);
    coil_future_cancel(f[0], NULL);
    coil_yield();
    CHECK_TRACE("");
    coil_future_set(f[2], 4, NULL, NULL);
    CHECK_INT(test_join(t), 0);
    CHECK_TRACE("0 [-125 -5 4] ");
    release_all();
}

TASK_TEST(cancelling_gather_cancels_every_child)
{
    struct call c = {.flags = COIL_GATHER_ALL};
    coil_task *t;

    create_all();
    t = start(gather, &c);
    coil_future_set(f[1], 1, NULL, NULL);
    coil_yield();
    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("-125 [-125 1 -125] ");
    release_all();
}

static void set_to_nine(void *arg)
{
    CHECK_INT(coil_future_set(arg, 9, NULL, NULL), 0);
}

TASK_TEST(gather_takes_the_same_future_twice_pending_or_done)
{
    coil_future *twice[] = {NULL, NULL};

    create_all();
    twice[0] = twice[1] = f[0];
    CHECK_INT(coil_call_later(COIL_MSEC(1), set_to_nine, f[0], NULL), 0);
    for (int round = 0; round < 2; round++) {
        int rcs[2] = {0, 0};

        CHECK_INT(coil_gather(twice, 2, 0, rcs), 0);
        CHECK_INT(rcs[0], 9);
        CHECK_INT(rcs[1], 9);
        CHECK_INT(coil_now(), COIL_MSEC(1));
    }
    release_all();
}

TASK_TEST(gather_without_memory_awaits_nothing)
{
    create_all();
    test_fail_allocation(1);
    CHECK_INT(coil_gather(f, 3, 0, NULL), -ENOMEM);
    test_fail_allocation(1);
    CHECK_INT(coil_wait(f, 3, COIL_WAIT_ALL, COIL_NEVER), -ENOMEM);
    release_all();
}

static int wait_here(void *arg)
{
    struct call *c = arg;
    int rc = coil_wait(f, 3, c->mode, c->deadline);

    test_trace("%d@%ld ", rc, (long)(coil_now() / COIL_MSEC(1)));
    return rc;
}

TASK_TEST(wait_modes)
{
    struct call all = {.mode = COIL_WAIT_ALL, .deadline = COIL_NEVER};
    struct call first = {.mode = COIL_WAIT_FIRST, .deadline = COIL_NEVER};
    struct call failure = {.mode = COIL_WAIT_FIRST_EXCEPTION, .deadline = COIL_NEVER};
    coil_task *t[3];

    create_all();
    t[0] = start(wait_here, &all);
    t[1] = start(wait_here, &first);
    t[2] = start(wait_here, &failure);
    coil_future_cancel(f[0], NULL);
    coil_sleep(COIL_MSEC(1));
    CHECK_TRACE("1@0 ");
    coil_future_set(f[1], -EIO, NULL, NULL);
    coil_sleep(COIL_MSEC(1));
    CHECK_TRACE("2@1 ");
    coil_future_set(f[2], 0, NULL, NULL);
    CHECK_INT(test_join(t[0]), 3);
    CHECK_INT(test_join(t[1]), 1);
    CHECK_INT(test_join(t[2]), 2);
    CHECK_TRACE("3@2 ");
    CHECK_INT(coil_wait(f, 0, COIL_WAIT_ALL, COIL_NEVER), -EINVAL);
    CHECK_INT(coil_wait(f, 1, (coil_wait_mode)-1, COIL_NEVER), -EINVAL);
    CHECK_INT(coil_wait(f, 1, (coil_wait_mode)3, COIL_NEVER), -EINVAL);
    CHECK_INT(coil_future_result(f[1]), -EIO);
    release_all();
}

TASK_TEST(wait_deadline_is_no_error_and_cancels_nothing)
{
    struct call c = {.mode = COIL_WAIT_ALL, .deadline = COIL_MSEC(10)};
    coil_task *t;

    create_all();
    coil_future_set(f[1], 0, NULL, NULL);
    CHECK_INT(test_join(start(wait_here, &c)), 1);
    CHECK_TRACE("1@10 ");
    c.deadline = COIL_NEVER;
    t = start(wait_here, &c);
    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK(!coil_future_done(f[0]) && !coil_future_done(f[2]));
    CHECK_TRACE("-125@10 ");
    release_all();
}

/* ---- mistakes ---------------------------------------------------------------------- */

static int gather_foreign(void *arg)
{
    coil_future *future = arg;

    return coil_gather(&future, 1, 0, NULL);
}

static int wait_foreign(void *arg)
{
    coil_future *future = arg;

    return coil_wait(&future, 1, COIL_WAIT_ALL, COIL_NEVER);
}

static int wait_for_foreign(void *arg)
{
    return coil_wait_for(arg, COIL_NEVER);
}

static int go_through_foreign(void *arg)
{
    coil_future *future = arg;
    coil_as_completed each;

    return coil_as_completed_init(&each, &future, 1, COIL_NEVER);
}

struct foreign {
    coil_task_fn fn;
    coil_future *future;
};

static void *run_with_another_loop(void *arg)
{
    struct foreign *foreign = arg;

    coil_run(foreign->fn, foreign->future, &(coil_run_opts){.no_signals = true});
    return NULL;
}

static void use_on_another_thread(void *arg)
{
    struct foreign foreign = {.fn = *(coil_task_fn *)arg};
    pthread_t thread;
    coil_loop *loop;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK_INT(coil_future_create(&foreign.future), 0);
    CHECK_INT(pthread_create(&thread, NULL, run_with_another_loop, &foreign), 0);
    pthread_join(thread, NULL);
}

TEST(waiting_for_a_future_of_another_loop_stops_the_program)
{
    coil_task_fn ways[] = {gather_foreign, wait_foreign, wait_for_foreign,
                           go_through_foreign};
    const char *const sentences[] = {
        "coil_gather: the future belongs to another loop",
        "coil_wait: the future belongs to another loop",
        "coil_wait_for: the future belongs to another loop",
        "coil_as_completed_init: the future belongs to another loop",
    };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        test_dies(use_on_another_thread, &ways[i], sentences[i]);
}
