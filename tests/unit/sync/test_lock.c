/*
 * test_lock.c - locks: mutual exclusion, fairness, and waiters that are cancelled.
 */
#include "../../harness/harness.h"

#include <coil.h>

static coil_lock lock;

static int hold(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    test_trace("%s%s ", (const char *)arg, rc == 0 ? "+" : "!");
    if (rc < 0)
        return rc;
    rc = coil_sleep(COIL_MSEC(10));
    test_trace("%s- ", (const char *)arg);
    CHECK_INT(coil_lock_release(&lock), 0);
    return rc;
}

static coil_task *spawn(const char *name)
{
    coil_task *task;

    CHECK_INT(coil_spawn(hold, (void *)name, NULL, &task), 0);
    return task;
}

TASK_TEST(lock_is_taken_in_order)
{
    coil_task *t[] = {spawn("a"), spawn("b"), spawn("c")};

    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_task_await(t[i]), 0);
        coil_task_release(t[i]);
    }
    CHECK_TRACE("a+ a- b+ b- c+ c- ");
    CHECK(!coil_lock_locked(&lock));
    CHECK_INT(coil_lock_release(&lock), -EPERM);
    coil_lock_finish(&lock);
}

TASK_TEST(lock_waiter_cancelled_while_waiting)
{
    coil_task *t[] = {spawn("a"), spawn("b"), spawn("c")};

    coil_yield();
    coil_task_cancel(t[1], NULL);
    CHECK_INT(coil_task_await(t[1]), -ECANCELED);
    CHECK_INT(coil_task_await(t[2]), 0);
    CHECK_TRACE("a+ b! a- c+ c- ");
    for (int i = 0; i < 3; i++)
        coil_task_release(t[i]);
}

/* (CPython: test_cancel_race, test_cancel_release_race) */
TASK_TEST(lock_waiter_cancelled_in_the_turn_it_was_woken)
{
    coil_task *b, *c;

    CHECK_INT(coil_lock_acquire(&lock), 0);
    b = spawn("b");
    c = spawn("c");
    coil_yield();
    CHECK_INT(coil_lock_release(&lock), 0);
    coil_task_cancel(b, NULL);
    CHECK_INT(coil_task_await(b), -ECANCELED);
    CHECK_INT(coil_task_await(c), 0);
    CHECK_TRACE("b! c+ c- ");
    coil_task_release(b);
    coil_task_release(c);
}

TASK_TEST(lock_is_not_overtaken_between_release_and_wake_up)
{
    coil_task *b;

    coil_lock_acquire(&lock);
    b = spawn("b");
    coil_yield();
    coil_lock_release(&lock);
    CHECK_INT(coil_lock_acquire(&lock), 0); /* queued behind b */
    test_trace("me ");
    coil_lock_release(&lock);
    CHECK_TRACE("b+ b- me ");
    coil_task_release(b);
}

static void finish_in_use(void *arg)
{
    coil_lock_finish(arg);
}

TASK_TEST(lock_finished_while_somebody_waits_stops_the_program)
{
    coil_task *b;

    coil_lock_acquire(&lock);
    b = spawn("b");
    coil_yield();
    test_dies(finish_in_use, &lock, "still waits for it");
    coil_lock_release(&lock);
    coil_task_await(b);
    coil_task_release(b);
    test_trace_clear();
}
