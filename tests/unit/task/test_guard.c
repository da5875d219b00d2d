/* test_guard.c - scopes, groups, locks and handles that end with their block of code. */
#include "../../harness/harness.h"

#include <coil.h>

static coil_lock lock = COIL_LOCK_INIT;

static int nap(void *arg)
{
    int rc = coil_sleep(COIL_SEC(60));

    if (arg != NULL)
        test_trace("%s%s ", (const char *)arg, rc == -ECANCELED ? "!" : "-");
    return rc;
}

static int fail(void *arg)
{
    (void)arg;
    return -EDOM;
}

/* ---- scopes ------------------------------------------------------------------------ */

static int sleep_in_block(int64_t span_ns, bool breaks)
{
    int rc = 7;

    COIL_WITH_DEADLINE(COIL_SEC(2), rc)
    {
        CHECK_INT(rc, 0);
        rc = coil_sleep(span_ns);
        if (breaks)
            break;
        test_trace("end ");
    }
    return rc;
}

TASK_TEST(guard_deadline_of_a_block)
{
    CHECK_INT(sleep_in_block(COIL_SEC(1), false), 0);
    CHECK_INT(sleep_in_block(COIL_SEC(3), false), -ETIMEDOUT);
    CHECK_TRACE("end end ");
    CHECK_INT(sleep_in_block(COIL_SEC(1), true), 0);
    CHECK_INT(sleep_in_block(COIL_SEC(3), true), -ETIMEDOUT);
    CHECK_TRACE("");
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
}

TASK_TEST(guard_deadline_takes_a_count)
{
    ssize_t n = -1;

    COIL_WITH_DEADLINE(COIL_SEC(1), n)
    n = (ssize_t)1 << 33;
    CHECK_INT(n, (ssize_t)1 << 33);
}

/*
 * Return from inside the block, which closes the scope, but does not convert the returned
 * value to -ETIMEDOUT.
 */
static int return_from_block(void)
{
    int rc;

    COIL_WITH_DEADLINE(COIL_SEC(1), rc)
    return coil_sleep(COIL_SEC(2));
    return rc;
}

TASK_TEST(guard_deadline_left_by_return)
{
    CHECK_INT(return_from_block(), -ECANCELED);
    CHECK_INT(coil_sleep(COIL_SEC(5)), 0);
}

TASK_TEST(guard_blocks_nest)
{
    int outer, inner = 0;

    COIL_WITH_DEADLINE(COIL_SEC(1), outer)
    {
        COIL_WITH_DEADLINE(COIL_SEC(9), inner)
        inner = coil_sleep(COIL_SEC(5));
        outer = inner;
    }
    CHECK_INT(inner, -ECANCELED);
    CHECK_INT(outer, -ETIMEDOUT);
}

TASK_TEST(guard_block_in_a_loop_is_left_by_continue)
{
    int rc, n = 0;

    for (int i = 0; i < 3; i++) {
        COIL_WITH_DEADLINE(COIL_SEC(1), rc)
        {
            if (i == 1)
                continue;
            n++;
        }
        CHECK_INT(rc, 0);
    }
    CHECK_INT(n, 2);
}

/*
 * Leave the scope with an early return (1), with coil_scope_exit() (2), or by returning
 * rc without coil_scope_exit() (3).
 */
static int use_scope_guard(int way)
{
    coil_scope s;
    int rc = coil_scope_enter(&s, coil_in(COIL_SEC(1)));

    if (rc < 0)
        return rc;
    COIL_SCOPE_GUARD(&s);
    if (way == 1)
        return -EPIPE;
    rc = coil_sleep(COIL_SEC(2));
    return way == 2 ? coil_scope_exit(&s, rc) : rc;
}

TASK_TEST(guard_scope_closes_on_each_way_out)
{
    CHECK_INT(use_scope_guard(1), -EPIPE);
    CHECK_INT(use_scope_guard(2), -ETIMEDOUT);
    CHECK_INT(use_scope_guard(3), -ECANCELED);
    CHECK_INT(coil_sleep(COIL_SEC(5)), 0);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

TASK_TEST(guard_block_does_not_run_without_memory)
{
    coil_handle *timers[64] = {NULL};
    int rc = 0, runs = 0;

    for (int i = 0; i < 64 && rc == 0; i++) { /* start timers until their heap is full */
        CHECK_INT(coil_call_later(COIL_SEC(99), do_nothing, NULL, &timers[i]), 0);
        test_fail_allocation(1);
        COIL_WITH_DEADLINE(COIL_SEC(1), rc)
        runs++;
        test_fail_allocation(0);
    }
    CHECK_INT(rc, -ENOMEM);
    CHECK(runs > 0);
    for (int i = 0; i < 64; i++)
        if (timers[i] != NULL) {
            coil_handle_cancel(timers[i]);
            coil_handle_release(timers[i]);
        }
}

static int say_goodbye(void *arg)
{
    int rc = coil_sleep(COIL_SEC(60));

    (void)arg;
    COIL_WITH_SHIELD(COIL_SEC(1))
    test_trace("%d ", coil_sleep(COIL_MSEC(1)));
    test_trace("%d ", coil_sleep(COIL_MSEC(1)) == -ECANCELED);
    return rc;
}

TASK_TEST(guard_shield_of_a_block)
{
    coil_task *task = test_spawn(say_goodbye, NULL);

    coil_yield();
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK_TRACE("0 1 ");
}

/* ---- groups ------------------------------------------------------------------------ */

TASK_TEST(guard_group_of_a_block_waits_for_the_children)
{
    int rc;

    COIL_WITH_GROUP(g, rc)
    {
        rc = coil_group_spawn(&g, nap, "a", NULL, NULL);
        if (rc < 0)
            break;
        rc = coil_group_spawn(&g, nap, "b", NULL, NULL);
    }
    CHECK_INT(rc, 0);
    CHECK_TRACE("a- b- ");
}

TASK_TEST(guard_group_of_a_block_returns_the_failure)
{
    int rc;

    COIL_WITH_GROUP(g, rc)
    {
        rc = coil_group_spawn(&g, nap, "a", NULL, NULL);
        if (rc == 0)
            rc = coil_group_spawn(&g, fail, NULL, NULL, NULL);
    }
    CHECK_INT(rc, -EDOM);
    CHECK_TRACE("a! ");
}

TASK_TEST(guard_group_of_a_block_left_by_break_cancels)
{
    int rc;

    COIL_WITH_GROUP(g, rc)
    {
        CHECK_INT(coil_group_spawn(&g, nap, "a", NULL, NULL), 0);
        coil_yield();
        rc = -EPIPE;
        break;
    }
    CHECK_INT(rc, -EPIPE);
    CHECK_TRACE("a! ");
}

static int return_from_group(coil_task_fn child, const char *name)
{
    coil_group g;

    coil_group_enter(&g);
    COIL_GROUP_GUARD(&g);
    CHECK_INT(coil_group_spawn(&g, child, (void *)name, NULL, NULL), 0);
    CHECK_INT(coil_sleep(COIL_SEC(1)), child == fail ? -ECANCELED : 0);
    return -EPIPE;
}

TASK_TEST(guard_group_left_early_cancels_and_waits)
{
    CHECK_INT(return_from_group(nap, "a"), -EPIPE);
    CHECK_TRACE("a! ");
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0);
}

static void trace_report(const coil_exception *exception, void *arg)
{
    (void)arg;
    test_trace("%s: %d", exception->message, exception->rc == -EDOM);
}

TASK_TEST(guard_group_left_early_reports_a_childs_failure)
{
    coil_set_exception_handler(trace_report, NULL);
    CHECK_INT(return_from_group(fail, NULL), -EPIPE);
    CHECK_TRACE("A group was left early, and a task of it had failed: 1");
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0);
}

static int end_slowly(void *arg)
{
    nap(NULL);
    COIL_WITH_SHIELD(COIL_SEC(20))
    coil_sleep(COIL_SEC(10));
    test_trace("%s ", (const char *)arg);
    return 0;
}

static int return_from_group_and_wait(void *arg)
{
    int rc = return_from_group(end_slowly, arg);

    CHECK_INT(coil_sleep(1), -ECANCELED);
    return rc;
}

TASK_TEST(guard_group_cancelled_while_the_guard_waits)
{
    coil_task *task = test_spawn(return_from_group_and_wait, "slow");

    coil_sleep(COIL_SEC(5));
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -EPIPE);
    CHECK_TRACE("slow ");
}

/* ---- locks ------------------------------------------------------------------------- */

static int use_lock(bool early)
{
    int rc;

    COIL_WITH_LOCK(&lock, rc)
    {
        CHECK(coil_lock_locked(&lock));
        if (early)
            return -EPIPE;
        rc = -EDOM;
        break;
    }
    return rc;
}

static int use_lock_guard(bool early)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    COIL_LOCK_GUARD(&lock);
    if (early)
        return -EPIPE;
    return coil_sleep(1);
}

TASK_TEST(guard_lock_is_released_on_each_way_out)
{
    CHECK_INT(use_lock(true), -EPIPE);
    CHECK(!coil_lock_locked(&lock));
    CHECK_INT(use_lock(false), -EDOM);
    CHECK(!coil_lock_locked(&lock));
    CHECK_INT(use_lock_guard(true), -EPIPE);
    CHECK(!coil_lock_locked(&lock));
    CHECK_INT(use_lock_guard(false), 0);
    CHECK(!coil_lock_locked(&lock));
}

static int wait_for_lock(void *arg)
{
    int rc;

    (void)arg;
    COIL_WITH_LOCK(&lock, rc)
    test_trace("never ");
    return rc;
}

TASK_TEST(guard_lock_cancelled_while_it_waits)
{
    coil_task *task;

    CHECK_INT(coil_lock_acquire(&lock), 0);
    task = test_spawn(wait_for_lock, NULL);
    coil_yield();
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK(coil_lock_locked(&lock));
    coil_lock_release(&lock);
    CHECK_TRACE("");
}

static int use_semaphore(coil_semaphore *slots)
{
    int rc = coil_semaphore_acquire(slots);

    if (rc < 0)
        return rc;
    COIL_SEMAPHORE_GUARD(slots);
    return coil_semaphore_locked(slots);
}

TASK_TEST(guard_semaphore)
{
    coil_semaphore slots = COIL_SEMAPHORE_INIT(1);

    CHECK_INT(use_semaphore(&slots), 1);
    CHECK(!coil_semaphore_locked(&slots));
}

/* ---- handles ----------------------------------------------------------------------- */

static int make_future(bool gives, coil_future **out)
{
    COIL_AUTO(coil_future) future = NULL;
    int rc = coil_future_create(&future);

    if (rc == 0 && gives)
        *out = COIL_TAKE(future);
    return rc;
}

/* The harness reports a future that is not released. */
TASK_TEST(guard_handle_is_released_unless_taken)
{
    coil_future *future = NULL;

    CHECK_INT(make_future(false, &future), 0);
    CHECK_PTR(future, NULL);
    CHECK_INT(make_future(true, &future), 0);
    CHECK(future != NULL);
    coil_future_release(future);
}

typedef struct thing {
    int number;
} thing;

static void end_thing(thing *t)
{
    test_trace("thing %d ", t->number);
}

COIL_AUTO_TYPE(thing, end_thing);

TASK_TEST(guard_handles_end_in_reverse_order)
{
    thing one = {1}, two = {2};

    {
        COIL_AUTO(thing) first = &one;
        COIL_AUTO(thing) second = &two;
        COIL_AUTO(thing) none = NULL;
    }
    CHECK_TRACE("thing 2 thing 1 ");
}

/* ---- coil_scope_leave(), coil_group_leave() ---------------------------------------- */

TASK_TEST(guard_leave_functions_do_nothing_the_second_time)
{
    coil_scope s;
    coil_group g;

    CHECK_INT(coil_scope_enter(&s, COIL_NEVER), 0);
    coil_scope_leave(&s);
    coil_scope_leave(&s);
    coil_group_enter(&g);
    coil_group_leave(&g);
    coil_group_leave(&g);
    coil_group_enter(&g);
    CHECK_INT(coil_group_exit(&g, 0), 0);
    coil_group_leave(&g);
}

static void leave_nothing(void *arg)
{
    coil_scope s = {{NULL}};

    (void)arg;
    coil_scope_leave(&s);
}

TASK_TEST(guard_leave_needs_a_scope)
{
    test_dies(leave_nothing, NULL, "coil_scope_leave: the scope was never given to");
}
