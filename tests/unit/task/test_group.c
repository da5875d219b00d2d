/*
 * test_group.c - groups, whose tasks are awaited and cancelled together.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

static int nap(void *arg)
{
    int rc = coil_sleep(COIL_MSEC(*(int *)arg));

    test_trace("%d:%d ", *(int *)arg, rc);
    return rc;
}

static int fail_soon(void *arg)
{
    coil_sleep(COIL_MSEC(5));
    return *(int *)arg;
}

static int ms[] = {1, 2, 3, 1000};
static int eio = -EIO, eproto = -EPROTO;

TASK_TEST(group_waits_for_all_children)
{
    coil_group g;
    coil_task *last;

    coil_group_enter(&g);
    for (int i = 2; i > 0; i--)
        CHECK_INT(coil_group_spawn(&g, nap, &ms[i], NULL, NULL), 0);
    CHECK_INT(coil_group_spawn(&g, nap, &ms[0], NULL, &last), 0);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_TRACE("1:0 2:0 3:0 ");
    CHECK_INT(coil_group_error_count(&g), 0);
    CHECK_INT(coil_group_error(&g, 0), 0);
}

TASK_TEST(group_without_children_is_left_at_once)
{
    coil_group g;

    coil_group_enter(&g);
    CHECK_INT(coil_group_exit(&g, 7), 7);
    coil_group_enter(&g);
    CHECK_INT(coil_group_exit(&g, -EIO), -EIO);
    CHECK_INT(coil_group_error_count(&g), 1);
}

TASK_TEST(a_failing_child_cancels_its_siblings_and_the_body)
{
    coil_group g;
    int rc;

    coil_group_enter(&g);
    coil_group_spawn(&g, nap, &ms[3], NULL, NULL);
    coil_group_spawn(&g, fail_soon, &eio, NULL, NULL);
    rc = coil_sleep(COIL_SEC(10));
    CHECK_INT(rc, -ECANCELED);
    CHECK_INT(coil_group_spawn(&g, nap, &ms[0], NULL, NULL), -ESHUTDOWN);
    CHECK_INT(coil_group_exit(&g, rc), -EIO);
    CHECK_TRACE("1000:-125 ");
    CHECK_INT(coil_now(), COIL_MSEC(5));
    CHECK_INT(coil_task_cancelling(coil_task_current()), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
}

TASK_TEST(a_failing_body_cancels_the_children)
{
    coil_group g;

    coil_group_enter(&g);
    coil_group_spawn(&g, nap, &ms[3], NULL, NULL);
    coil_yield();
    CHECK_INT(coil_group_exit(&g, -EPROTO), -EPROTO);
    CHECK_TRACE("1000:-125 ");
}

TASK_TEST(group_keeps_the_failures_in_order)
{
    coil_group g;

    coil_group_enter(&g);
    coil_group_spawn(&g, fail_soon, &eio, NULL, NULL);
    coil_group_spawn(&g, fail_soon, &eproto, NULL, NULL);
    CHECK_INT(coil_group_exit(&g, 0), -EIO);
    CHECK_INT(coil_group_error_count(&g), 2);
    CHECK_INT(coil_group_error(&g, 0), -EIO);
    CHECK_INT(coil_group_error(&g, 1), -EPROTO);
}

struct owner_result {
    coil_group g;
    int body, exit;
};

static int own_group(void *arg)
{
    struct owner_result *r = arg;

    coil_group_enter(&r->g);
    coil_group_spawn(&r->g, nap, &ms[3], NULL, NULL);
    r->body = coil_yield();
    r->exit = coil_group_exit(&r->g, r->body);
    return r->exit;
}

TASK_TEST(cancelling_the_owner_in_exit_cancels_the_children_and_waits)
{
    struct owner_result r;
    coil_task *t;

    coil_spawn(own_group, &r, NULL, &t);
    coil_sleep(COIL_MSEC(1));
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    CHECK_INT(r.body, 0);
    CHECK_INT(r.exit, -ECANCELED);
    CHECK_TRACE("1000:-125 ");
    coil_task_release(t);
}

static int leave_as_cancelled(void *arg)
{
    coil_group g;
    int rc;

    (void)arg;
    coil_group_enter(&g);
    coil_group_spawn(&g, nap, &ms[3], NULL, NULL);
    coil_yield();
    /*
     * The block fails with -ECANCELED although this task was not cancelled. During the
     * exit, another task cancels this task.
     */
    rc = coil_group_exit(&g, -ECANCELED);
    test_trace("exit:%d ", rc);
    return coil_sleep(1);
}

TASK_TEST(a_cancellation_during_an_exit_that_cancels_anyway_stands)
{
    coil_task *t;

    coil_spawn(leave_as_cancelled, NULL, NULL, &t);
    coil_yield();
    coil_yield();
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    CHECK_TRACE("1000:-125 exit:-125 ");
    coil_task_release(t);
}

static int fail_when_cancelled(void *arg)
{
    coil_sleep(COIL_SEC(1));
    (void)arg;
    return -EIO;
}

static int own_failing_group(void *arg)
{
    coil_group g;
    int rc;

    (void)arg;
    coil_group_enter(&g);
    coil_group_spawn(&g, fail_when_cancelled, NULL, NULL, NULL);
    rc = coil_group_exit(&g, 0);
    test_trace("exit:%d count:%d ", rc, coil_task_cancelling(coil_task_current()));
    rc = coil_sleep(COIL_MSEC(1));
    test_trace("then:%d ", rc);
    return rc;
}

TASK_TEST(a_foreign_cancellation_is_not_forgotten_over_failures)
{
    coil_task *t;

    coil_spawn(own_failing_group, NULL, NULL, &t);
    coil_sleep(COIL_MSEC(1));
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    CHECK_TRACE("exit:-5 count:1 then:-125 ");
    coil_task_release(t);
}

TASK_TEST(groups_nest)
{
    coil_group outer, inner;
    int rc;

    coil_group_enter(&outer);
    coil_group_spawn(&outer, fail_soon, &eio, NULL, NULL);
    coil_group_enter(&inner);
    coil_group_spawn(&inner, nap, &ms[3], NULL, NULL);
    rc = coil_group_exit(&inner, 0);
    CHECK_INT(rc, -ECANCELED);
    CHECK_INT(coil_group_exit(&outer, rc), -EIO);
    CHECK_TRACE("1000:-125 ");
}

struct tree {
    coil_group *g;
    int depth;
};

static int spawn_more(void *arg)
{
    struct tree *t = arg, deeper = {t->g, t->depth - 1};

    test_trace("%d ", t->depth);
    if (t->depth == 0)
        return 0;
    return coil_group_spawn(t->g, spawn_more, &deeper,
                            &(coil_spawn_opts){.arg_bytes = sizeof deeper}, NULL);
}

TASK_TEST(children_spawn_into_the_group_while_its_owner_waits)
{
    coil_group g;
    struct tree t = {&g, 3};

    coil_group_enter(&g);
    coil_group_spawn(&g, spawn_more, &t, NULL, NULL);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_TRACE("3 2 1 0 ");
}

TASK_TEST(a_borrowed_child_lives_until_exit)
{
    coil_group g;
    coil_task *child;

    coil_group_enter(&g);
    coil_group_spawn(&g, nap, &ms[0], NULL, &child);
    CHECK_INT(coil_task_await(child), 0);
    coil_sleep(COIL_MSEC(5));
    CHECK_INT(coil_future_result(coil_task_future(child)), 0);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_TRACE("1:0 ");
}

static int nothing(void *arg)
{
    ++*(int *)arg;
    return 0;
}

TASK_TEST(a_group_of_a_hundred_thousand)
{
    int n = test_hundred_thousand(), count = 0;
    coil_group g;

    coil_group_enter(&g);
    for (int i = 0; i < n; i++)
        CHECK_INT(coil_group_spawn(&g, nothing, &count, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_INT(count, n);
}

static void enter_in_a_callback(void *arg)
{
    coil_group g;

    coil_group_enter(&g);
    coil_loop_stop(arg);
}

static void run_without_a_task(void *arg)
{
    coil_loop *loop;

    (void)arg;
    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK_INT(coil_call_soon(enter_in_a_callback, loop, NULL), 0);
    coil_loop_run_forever(loop);
}

TEST(group_without_an_owner_stops_the_program)
{
    test_dies(run_without_a_task, NULL, "coil_group_enter: no task is running");
}

/* ---- ending a group early ---------------------------------------------------------- */

TASK_TEST(cancelling_a_group_ends_children_and_body_and_is_no_error)
{
    coil_group g;
    int rc;

    coil_group_enter(&g);
    coil_group_spawn(&g, nap, &ms[3], NULL, NULL);
    coil_yield();
    coil_group_cancel(&g, "enough");
    coil_group_cancel(&g, "enough");
    CHECK_INT(coil_task_cancelling(coil_task_current()), 1);
    CHECK_INT(coil_group_spawn(&g, nap, &ms[0], NULL, NULL), -ESHUTDOWN);
    rc = coil_sleep(COIL_SEC(1));
    CHECK_INT(rc, -ECANCELED);
    CHECK_STR(coil_cancel_reason(), "enough");
    CHECK_INT(coil_group_exit(&g, rc), 0);
    CHECK_TRACE("1000:-125 ");
    CHECK_INT(coil_task_cancelling(coil_task_current()), 0);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_INT(coil_now(), COIL_MSEC(1));
}

static int end_the_group(void *arg)
{
    coil_sleep(COIL_MSEC(2));
    coil_group_cancel(arg, "from within");
    return coil_sleep(COIL_SEC(1));
}

TASK_TEST(a_child_may_cancel_its_group_while_the_owner_waits_in_exit)
{
    coil_group g;

    coil_group_enter(&g);
    coil_group_spawn(&g, nap, &ms[3], NULL, NULL);
    coil_group_spawn(&g, end_the_group, &g, NULL, NULL);
    CHECK_INT(coil_group_exit(&g, 7), 7);
    CHECK_TRACE("1000:-125 ");
    CHECK_INT(coil_now(), COIL_MSEC(2));
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
}

static int own_an_empty_group(void *arg)
{
    coil_group_enter(arg);
    CHECK_INT(coil_group_exit(arg, 0), 0);
    return coil_sleep(COIL_MSEC(1));
}

/* This is like calling TaskGroup.cancel() after the `async with` block in Python 3.15. */
TASK_TEST(cancelling_a_group_that_has_ended_does_nothing)
{
    coil_group g;
    coil_task *owner;

    coil_spawn(own_an_empty_group, &g, NULL, &owner);
    coil_yield();
    coil_group_cancel(&g, "too late");
    CHECK_INT(coil_task_cancelling(owner), 0);
    CHECK_INT(test_join(owner), 0);
    /* must not access the owner, which has ended */
    coil_group_cancel(&g, "too late");
    CHECK_INT(coil_group_spawn(&g, nap, &ms[0], NULL, NULL), -ESHUTDOWN);
}

TASK_TEST(a_cancelled_group_still_returns_failures)
{
    coil_group g;

    coil_group_enter(&g);
    coil_group_spawn(&g, fail_soon, &eio, NULL, NULL);
    coil_yield();
    coil_group_cancel(&g, NULL);
    CHECK_INT(coil_group_exit(&g, coil_sleep(COIL_SEC(1))), -EIO);
    coil_group_enter(&g);
    coil_group_cancel(&g, NULL);
    CHECK_INT(coil_group_exit(&g, -EPROTO), -EPROTO);
    CHECK_INT(coil_sleep(1), 0);
}

static int own_cancelled_group(void *arg)
{
    coil_group g;
    int rc;

    coil_group_enter(&g);
    coil_group_spawn(&g, nap, &ms[3], NULL, NULL);
    if (arg != NULL)
        rc = coil_sleep(COIL_SEC(1));
    else
        rc = coil_yield();
    coil_group_cancel(&g, NULL);
    rc = coil_group_exit(&g, rc);
    test_trace("exit:%d count:%d ", rc, coil_task_cancelling(coil_task_current()));
    rc = coil_sleep(1);
    test_trace("then:%d ", rc);
    return rc;
}

/*
 * coil_group_exit() must return -ECANCELED if another task has cancelled the owner,
 * before or during the exit, although the group itself was cancelled too.
 */
TASK_TEST(a_foreign_cancellation_is_not_forgotten_over_the_groups_own)
{
    coil_task *t;

    coil_spawn(own_cancelled_group, "sleep", NULL, &t);
    coil_sleep(1);
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    coil_task_release(t);
    CHECK_TRACE("1000:-125 exit:-125 count:1 then:-125 ");

    coil_spawn(own_cancelled_group, NULL, NULL, &t);
    coil_yield();
    coil_yield();
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    coil_task_release(t);
    CHECK_TRACE("1000:-125 exit:-125 count:1 then:-125 ");
}

static int clean_up_slowly(void *unused)
{
    coil_scope s;
    int rc = coil_sleep(COIL_SEC(1000));

    (void)unused;
    coil_scope_enter_shielded(&s, COIL_NEVER);
    coil_sleep(COIL_MSEC(100));
    coil_scope_exit(&s, 0);
    return rc;
}

/*
 * Functions that end a group in various ways. After each of them, the group's exit takes
 * 100 ms.
 */
static int end_by_cancel(coil_group *g)
{
    coil_group_cancel(g, "enough");
    return 0;
}

static int end_by_cancel_in_the_body(coil_group *g)
{
    coil_group_cancel(g, "enough");
    return coil_sleep(COIL_SEC(1));
}

static int end_by_cancel_that_is_caught(coil_group *g)
{
    coil_group_cancel(g, "enough");
    CHECK_INT(coil_sleep(COIL_SEC(1)), -ECANCELED);
    coil_cancel_caught();
    return 7;
}

static int end_by_cancel_from_within(coil_group *g)
{
    CHECK_INT(coil_group_spawn(g, end_the_group, g, NULL, NULL), 0);
    return 0;
}

static int end_by_a_failure(coil_group *g)
{
    CHECK_INT(coil_group_spawn(g, fail_soon, &eio, NULL, NULL), 0);
    return 0;
}

static int end_by_leaving_with_an_error(coil_group *g)
{
    (void)g;
    return -EPROTO;
}

static const struct ending {
    int (*end)(coil_group *g);
    int exit; /* result of coil_group_exit() if no other task cancels the owner */
    int exit_if_cancelled;
} endings[] = {
    {end_by_cancel, 0, -ECANCELED},
    {end_by_cancel_in_the_body, 0, -ECANCELED},
    {end_by_cancel_that_is_caught, 7, -ECANCELED},
    {end_by_cancel_from_within, 0, -ECANCELED},
    {end_by_a_failure, -EIO, -EIO},
    {end_by_leaving_with_an_error, -EPROTO, -EPROTO},
};

static int leave_group(const struct ending *e)
{
    coil_group g;

    coil_group_enter(&g);
    coil_group_spawn(&g, clean_up_slowly, NULL, NULL, NULL);
    coil_yield();
    return coil_group_exit(&g, e->end(&g));
}

static int own_group_to_the_end(void *arg)
{
    const struct ending *e = arg;
    int rc = leave_group(e);

    CHECK_INT(rc, e->exit_if_cancelled);
    CHECK_INT(coil_task_cancelling(coil_task_current()), 1);
    CHECK_INT(coil_sleep(1), -ECANCELED); /* the cancellation remains in effect */
    CHECK_STR(coil_cancel_reason(), "from outside");
    return rc;
}

#define ENDINGS (sizeof endings / sizeof endings[0])

/* Another task cancels the owner during the exit. (CPython issue gh-155433) */
TASK_TEST(group_exit_of_a_cancelled_owner_says_so_however_the_group_was_ended)
{
    for (size_t i = 0; i < ENDINGS; i++) {
        coil_task *t;

        CHECK_INT(leave_group(&endings[i]), endings[i].exit);
        CHECK_INT(coil_spawn(own_group_to_the_end, (void *)&endings[i], NULL, &t), 0);
        coil_sleep(COIL_MSEC(50));
        CHECK(coil_task_cancel(t, "from outside"));
        CHECK_INT(coil_task_await(t), endings[i].exit_if_cancelled);
        coil_task_release(t);
    }
}

TASK_TEST(group_exit_ends_with_the_deadline_around_it_however_the_group_was_ended)
{
    for (size_t i = 0; i < ENDINGS; i++) {
        bool cancelled = endings[i].exit_if_cancelled == -ECANCELED;
        coil_scope outer, inner;
        int rc;

        coil_scope_enter(&outer, coil_in(COIL_SEC(10)));
        coil_scope_enter(&inner, coil_in(COIL_MSEC(50)));
        rc = coil_scope_exit(&inner, leave_group(&endings[i]));
        CHECK_INT(rc, cancelled ? -ETIMEDOUT : endings[i].exit);
        CHECK(coil_scope_expired(&inner));
        CHECK_INT(coil_scope_exit(&outer, 3), 3);
        CHECK_INT(coil_task_cancelling(coil_task_current()), 0);
        CHECK_INT(coil_sleep(1), 0);
    }
}

/* End the outer group while its owner is waiting in the exit of the inner group. */
TASK_TEST(group_exit_inside_a_group_that_ends_says_so)
{
    for (size_t i = 0; i < ENDINGS; i++)
        for (int fails = 0; fails < 2; fails++) {
            coil_group outer;
            int rc;

            coil_group_enter(&outer);
            if (fails)
                coil_group_spawn(&outer, fail_soon, &eio, NULL, NULL);
            else
                coil_group_spawn(&outer, end_the_group, &outer, NULL, NULL);
            rc = leave_group(&endings[i]);
            CHECK_INT(rc, endings[i].exit_if_cancelled);
            rc = coil_group_exit(&outer, rc);
            CHECK_INT(rc, fails ? -EIO : rc != -ECANCELED ? rc : 0);
            CHECK_INT(coil_task_cancelling(coil_task_current()), 0);
            CHECK_INT(coil_sleep(1), 0);
        }
}

/*
 * In a shield, which holds the cancellation back, a group ends as if its owner had not
 * been cancelled.
 */
TASK_TEST(group_exit_in_a_shield_is_not_cancelled_from_outside_of_it)
{
    for (size_t i = 0; i < ENDINGS; i++) {
        coil_scope outer, shield;
        int rc;

        coil_scope_enter(&outer, coil_in(COIL_MSEC(50)));
        coil_scope_enter_shielded(&shield, COIL_NEVER);
        rc = leave_group(&endings[i]);
        CHECK_INT(rc, endings[i].exit);
        CHECK_INT(coil_scope_exit(&shield, rc), rc);
        rc = coil_scope_exit(&outer, coil_sleep(1));
        CHECK_INT(rc, -ETIMEDOUT);
        CHECK_INT(coil_sleep(1), 0);
    }
}

/* ---- starting ---------------------------------------------------------------------- */

struct service {
    /*
     * the delay until the service is ready, its rc if it fails instead, its value for
     * coil_group_started(), and its final rc
     */
    int delay_ms, before, value, after;
};

static int serve(void *arg)
{
    const struct service *s = arg;
    int rc = coil_sleep(COIL_MSEC(s->delay_ms));

    if (rc == 0)
        rc = s->before;
    if (rc < 0) {
        test_trace("not ready:%d ", rc);
        return rc;
    }
    rc = coil_group_started(s->value);
    test_trace("ready:%d again:%d ", rc, coil_group_started(0));
    rc = coil_sleep(COIL_MSEC(10));
    test_trace("served:%d ", rc);
    return rc < 0 ? rc : s->after;
}

TASK_TEST(start_returns_when_the_child_is_ready)
{
    struct service s = {.delay_ms = 5, .value = 8080};
    coil_task *child = NULL;
    coil_group g;

    coil_group_enter(&g);
    CHECK_INT(coil_group_start(&g, serve, &s, NULL, &child), 8080);
    CHECK_TRACE("ready:0 again:-114 ");
    CHECK_INT(coil_now(), COIL_MSEC(5));
    CHECK(child != NULL && !coil_future_done(coil_task_future(child)));
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_TRACE("served:0 ");
    CHECK_INT(coil_group_started(1), 0); /* no caller waits for this task */
    CHECK_INT(coil_group_started(-1), -EINVAL);
}

static int return_at_once(void *arg)
{
    (void)arg;
    return 3;
}

TASK_TEST(a_child_that_fails_before_it_is_ready_fails_only_the_start)
{
    struct service bad = {.delay_ms = 5, .before = -EADDRINUSE}, good = {.value = 1};
    coil_task *child = NULL;
    coil_group g;

    coil_group_enter(&g);
    coil_group_spawn(&g, nap, &ms[2], NULL, NULL);
    CHECK_INT(coil_group_start(&g, serve, &bad, NULL, &child), -EADDRINUSE);
    CHECK(child == NULL);
    CHECK_INT(coil_group_start(&g, return_at_once, NULL, NULL, NULL), -ECHILD);
    CHECK_INT(coil_group_start(&g, serve, &good, NULL, NULL), 1);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_TRACE("3:0 not ready:-98 ready:0 again:-114 served:0 ");
    CHECK_INT(coil_group_error_count(&g), 0);
}

TASK_TEST(a_child_that_fails_after_it_was_ready_fails_the_group)
{
    struct service s = {.value = 2, .after = -EIO};
    coil_group g;

    coil_group_enter(&g);
    coil_group_spawn(&g, nap, &ms[3], NULL, NULL);
    CHECK_INT(coil_group_start(&g, serve, &s, NULL, NULL), 2);
    CHECK_INT(coil_group_exit(&g, coil_sleep(COIL_SEC(9))), -EIO);
    CHECK_TRACE("ready:0 again:-114 served:0 1000:-125 ");
}

struct starter {
    coil_task_fn fn;
    struct service service;
};

static int start_one(void *arg)
{
    struct starter *starter = arg;
    coil_group g;
    int rc;

    coil_group_enter(&g);
    rc = coil_group_start(&g, starter->fn, &starter->service, NULL, NULL);
    test_trace("started:%d ", rc);
    if (rc >= 0)
        test_trace("next:%d ", rc = coil_sleep(1));
    return coil_group_exit(&g, rc);
}

static int be_ready_although_cancelled(void *arg)
{
    (void)arg;
    CHECK_INT(coil_sleep(COIL_SEC(1)), -ECANCELED);
    coil_cancel_caught();
    CHECK_INT(coil_group_started(4), 0);
    return 0;
}

static int cancel_while_starting(struct starter *starter)
{
    coil_task *t;
    int rc;

    coil_spawn(start_one, starter, NULL, &t);
    coil_sleep(1);
    CHECK(coil_task_cancel(t, NULL));
    rc = coil_task_await(t);
    coil_task_release(t);
    return rc;
}

TASK_TEST(cancelling_a_start_cancels_the_child_and_waits_for_it)
{
    struct starter asleep = {.fn = serve, .service = {.delay_ms = 1000}},
                   stubborn = {.fn = be_ready_although_cancelled};

    CHECK_INT(cancel_while_starting(&asleep), -ECANCELED);
    CHECK_TRACE("not ready:-125 started:-125 ");
    CHECK_INT(cancel_while_starting(&stubborn), -ECANCELED);
    CHECK_TRACE("started:4 next:-125 ");
    CHECK_INT(coil_now(), 2);
}

TASK_TEST(a_failing_sibling_ends_a_start)
{
    struct service s = {.delay_ms = 1000};
    coil_group g;
    int rc;

    coil_group_enter(&g);
    coil_group_spawn(&g, fail_soon, &eio, NULL, NULL);
    rc = coil_group_start(&g, serve, &s, NULL, NULL);
    CHECK_INT(rc, -ECANCELED);
    CHECK_INT(coil_group_start(&g, serve, &s, NULL, NULL), -ECANCELED);
    CHECK_INT(coil_group_exit(&g, rc), -EIO);
    CHECK_TRACE("not ready:-125 ");
    CHECK_INT(coil_sleep(1), 0);
}

/* ---- a limit ----------------------------------------------------------------------- */

struct limited {
    int running, most, ended;
};

static int run_for_a_while(void *arg)
{
    struct limited *l = arg;
    int rc;

    if (++l->running > l->most)
        l->most = l->running;
    rc = coil_sleep(COIL_MSEC(10));
    l->running--;
    l->ended++;
    return rc;
}

TASK_TEST(group_with_a_limit_runs_so_many_children_at_once)
{
    struct limited l = {0};
    coil_group g;

    coil_group_enter(&g);
    coil_group_set_limit(&g, 3);
    for (int i = 0; i < 10; i++)
        CHECK_INT(coil_group_spawn_when_free(&g, run_for_a_while, &l, NULL, NULL), 0);
    CHECK_INT(coil_now(), COIL_MSEC(30));
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_INT(coil_now(), COIL_MSEC(40));
    CHECK_INT(l.most, 3);
    CHECK_INT(l.ended, 10);
}

TASK_TEST(group_at_its_limit_refuses_a_spawn_that_does_not_wait)
{
    struct limited l = {0};
    coil_group g;

    coil_group_enter(&g);
    coil_group_set_limit(&g, 1);
    CHECK_INT(coil_group_spawn(&g, run_for_a_while, &l, NULL, NULL), 0);
    CHECK_INT(coil_group_spawn(&g, run_for_a_while, &l, NULL, NULL), -EAGAIN);
    CHECK_INT(coil_group_start(&g, run_for_a_while, &l, NULL, NULL), -EAGAIN);
    coil_group_set_limit(&g, 0);
    CHECK_INT(coil_group_spawn(&g, run_for_a_while, &l, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_INT(l.most, 2);
}

struct entering {
    coil_group *g;
    struct limited *l;
    int number;
};

static int enter_limited(void *arg)
{
    struct entering *e = arg;
    int rc = coil_group_spawn_when_free(e->g, run_for_a_while, e->l, NULL, NULL);

    test_trace("%d:%d ", e->number, rc);
    return 0;
}

/*
 * Three tasks wait until they may spawn a child in the group. One of them is cancelled.
 * The owner then waits for the same, and its child must start after the children of the
 * other two tasks.
 */
TASK_TEST(group_places_are_given_first_come_first_served)
{
    struct limited l = {0};
    struct entering e[3];
    coil_task *tasks[3];
    coil_group g;

    coil_group_enter(&g);
    coil_group_set_limit(&g, 1);
    CHECK_INT(coil_group_spawn(&g, run_for_a_while, &l, NULL, NULL), 0);
    for (int i = 0; i < 3; i++) {
        e[i] = (struct entering){&g, &l, i};
        CHECK_INT(coil_spawn(enter_limited, &e[i], NULL, &tasks[i]), 0);
    }
    CHECK_INT(coil_yield(), 0);
    CHECK(coil_task_cancel(tasks[1], NULL));
    CHECK_INT(coil_group_spawn_when_free(&g, run_for_a_while, &l, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_INT(l.most, 1);
    CHECK_INT(l.ended, 4);
    CHECK_TRACE("1:-125 0:0 2:0 ");
    for (int i = 0; i < 3; i++)
        coil_task_release(tasks[i]);
}

/* If the first waiting task is cancelled, the second one gets its place in the group. */
TASK_TEST(group_place_of_an_entrant_that_is_cancelled_goes_on)
{
    struct limited l = {0};
    struct entering e[2];
    coil_task *tasks[2], *child;
    coil_group g;

    coil_group_enter(&g);
    coil_group_set_limit(&g, 1);
    CHECK_INT(coil_group_spawn(&g, run_for_a_while, &l, NULL, &child), 0);
    for (int i = 0; i < 2; i++) {
        e[i] = (struct entering){&g, &l, i};
        CHECK_INT(coil_spawn(enter_limited, &e[i], NULL, &tasks[i]), 0);
    }
    while (!coil_future_done(coil_task_future(child)))
        coil_sleep(COIL_MSEC(1));
    coil_task_cancel(tasks[0], NULL); /* the task has been admitted, or is about to be */
    CHECK_INT(coil_task_await(tasks[1]), 0);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_INT(l.most, 1);
    CHECK_TRACE("0:-125 1:0 ");
    for (int i = 0; i < 2; i++)
        coil_task_release(tasks[i]);
}

TASK_TEST(group_that_is_cancelled_admits_nobody)
{
    struct limited l = {0};
    struct entering e = {NULL, &l, 0};
    coil_task *task;
    coil_group g;

    coil_group_enter(&g);
    coil_group_set_limit(&g, 1);
    e.g = &g;
    CHECK_INT(coil_group_spawn(&g, run_for_a_while, &l, NULL, NULL), 0);
    CHECK_INT(coil_spawn(enter_limited, &e, NULL, &task), 0);
    CHECK_INT(coil_yield(), 0);
    coil_group_cancel(&g, NULL);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
    CHECK_TRACE("0:-108 ");
    CHECK_INT(l.ended, 1);
}

TASK_TEST(group_that_lowers_its_limit_ends_nobody)
{
    struct limited l = {0};
    coil_group g;

    coil_group_enter(&g);
    coil_group_set_limit(&g, 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_group_spawn(&g, run_for_a_while, &l, NULL, NULL), 0);
    coil_group_set_limit(&g, 1);
    CHECK_INT(coil_group_spawn_when_free(&g, run_for_a_while, &l, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_INT(coil_now(), COIL_MSEC(20));
    CHECK_INT(l.ended, 4);
}

/* ---- an eager child's own callback, which runs before the group's ------------------ */

static coil_task *sibling;

static void look_at_sibling(coil_future *future, void *arg)
{
    (void)future;
    (void)arg;
    test_trace("cancelled %d times ", coil_task_cancelling(sibling));
}

static int call_back_and_fail(void *arg)
{
    coil_future *own = coil_task_future(coil_task_current());

    (void)arg;
    CHECK_INT(coil_future_add_callback(own, look_at_sibling, NULL), 0);
    coil_yield();
    CHECK_INT(coil_future_add_callback(own, look_at_sibling, NULL), 0);
    return -EIO;
}

TASK_TEST(an_eager_childs_first_callback_runs_before_its_groups)
{
    coil_spawn_opts eager = {.eager = true};
    coil_group g;

    coil_group_enter(&g);
    CHECK_INT(coil_group_spawn(&g, nap, &ms[3], NULL, &sibling), 0);
    CHECK_INT(coil_group_spawn(&g, call_back_and_fail, NULL, &eager, NULL), 0);
    CHECK_INT(coil_group_exit(&g, 0), -EIO);
    CHECK_TRACE("cancelled 0 times cancelled 1 times 1000:-125 ");
}
