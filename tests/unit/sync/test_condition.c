/*
 * test_condition.c - condition variables.
 */
#include "../../harness/harness.h"

#include <coil.h>

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int wait_here(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait(&changed);
    CHECK(coil_lock_locked(&lock));
    test_trace("%s:%d ", (const char *)arg, rc);
    coil_lock_release(&lock);
    return rc;
}

TASK_TEST(condition_notify_wakes_so_many_in_order)
{
    coil_spawn(wait_here, "a", NULL, NULL);
    coil_spawn(wait_here, "b", NULL, NULL);
    coil_spawn(wait_here, "c", NULL, NULL);
    coil_sleep(1);
    CHECK_INT(coil_condition_notify(&changed, 1), -EPERM);
    coil_lock_acquire(&lock);
    CHECK_INT(coil_condition_notify(&changed, 2), 0);
    coil_sleep(1);
    CHECK_TRACE(""); /* this task still holds the lock */
    coil_lock_release(&lock);
    coil_sleep(1);
    CHECK_TRACE("a:0 b:0 ");
    coil_lock_acquire(&lock);
    coil_condition_notify_all(&changed);
    coil_lock_release(&lock);
    coil_sleep(1);
    CHECK_TRACE("c:0 ");
    CHECK_INT(coil_condition_wait(&changed), -EPERM);
    coil_condition_finish(&changed);
}

TASK_TEST(condition_waiter_cancelled_has_the_lock_again)
{
    coil_task *a;

    coil_spawn(wait_here, "a", NULL, &a);
    coil_sleep(1);
    coil_lock_acquire(&lock);
    coil_task_cancel(a, NULL);
    coil_sleep(1);
    CHECK_TRACE("");
    coil_task_cancel(a, NULL); /* cancel the task again while it waits for the lock */
    coil_sleep(1);
    CHECK_TRACE("");
    coil_lock_release(&lock);
    CHECK_INT(coil_task_await(a), -ECANCELED);
    CHECK_TRACE("a:-125 ");
    coil_task_release(a);
}

TASK_TEST(condition_notified_and_cancelled_passes_the_notification_on)
{
    coil_task *a;

    coil_spawn(wait_here, "a", NULL, &a);
    coil_spawn(wait_here, "b", NULL, NULL);
    coil_sleep(1);
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    coil_task_cancel(a, NULL);
    coil_lock_release(&lock);
    coil_sleep(1);
    CHECK_TRACE("a:-125 b:0 ");
    coil_task_release(a);
}

static int level;

static int level_reached(void *arg)
{
    test_trace("%d? ", level);
    return level >= *(int *)arg ? level : 0;
}

static int wait_for_level(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait_for(&changed, level_reached, arg);
    test_trace("%d ", rc);
    coil_lock_release(&lock);
    return rc;
}

static void set_level(int value)
{
    coil_lock_acquire(&lock);
    level = value;
    coil_condition_notify_all(&changed);
    coil_lock_release(&lock);
}

TASK_TEST(condition_wait_for_asks_at_each_notification)
{
    int wanted = 2;
    coil_task *task;

    CHECK_INT(coil_spawn(wait_for_level, &wanted, NULL, &task), 0);
    coil_yield();
    CHECK_TRACE("0? ");
    set_level(1);
    coil_yield();
    CHECK_TRACE("1? ");
    set_level(5);
    CHECK_INT(coil_task_await(task), 5);
    CHECK_TRACE("5? 5 ");
    coil_task_release(task);
}

TASK_TEST(condition_wait_for_what_is_true_needs_no_lock)
{
    int wanted = 0;

    level = 3;
    CHECK_INT(coil_condition_wait_for(&changed, level_reached, &wanted), 3);
    wanted = 4;
    CHECK_INT(coil_condition_wait_for(&changed, level_reached, &wanted), -EPERM);
    wanted = -7;
    level = -7;
    CHECK_INT(coil_condition_wait_for(&changed, level_reached, &wanted), -7);
    test_trace_clear();
}

TASK_TEST(condition_wait_for_cancelled_has_the_lock_again)
{
    int wanted = 1;
    coil_task *task;

    CHECK_INT(coil_spawn(wait_for_level, &wanted, NULL, &task), 0);
    coil_yield();
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK_TRACE("0? -125 ");
    CHECK(!coil_lock_locked(&lock));
    coil_task_release(task);
}
