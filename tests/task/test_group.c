/*
 * test_group.c - tasks that end together.
 */
#include "../harness/harness.h"

#include "../../src/base/compiler.h"

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
    int n = COIL__TSAN || test_under_valgrind() ? 1000 : 100000,
        count = 0; /* theirs are dear */
    coil_group g;

    coil_group_enter(&g);
    for (int i = 0; i < n; i++)
        CHECK_INT(coil_group_spawn(&g, nothing, &count, NULL, NULL), 0);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    CHECK_INT(count, n);
}
