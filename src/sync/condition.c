/*
 * condition.c - a condition variable for tasks. (asyncio: locks.Condition)
 */
#include "condition.h"
#include "waiters.h"

void coil_condition_init(coil_condition *condition, coil_lock *lock)
{
    COIL__REQUIRE(condition, "a condition");
    COIL__REQUIRE(lock, "a lock");
    *condition = (coil_condition)COIL_CONDITION_INIT(lock);
    coil__waiters_bind_in_debug_mode(&condition->waiters);
}

void coil_condition_finish(coil_condition *condition)
{
    if (condition != NULL)
        coil__waiters_finish(&condition->waiters, "coil_condition_finish");
}

void coil__condition_notify(coil_waiters *waiters, size_t n)
{
    while (n > 0 && coil__waiters_wake_one(waiters))
        n--;
}

/*
 * Acquire the lock even if the task is cancelled. Returns true if the task was cancelled
 * meanwhile.
 */
static bool reacquire(coil_lock *lock, coil_task *task)
{
    bool cancelled = false;

    task->delivered = false;
    while (coil_lock_acquire(lock) < 0) {
        cancelled = true;
        task->delivered = false;
    }
    return cancelled;
}

int coil__condition_wait(coil_waiters *waiters, coil_lock *lock,
                         const struct coil__wait_class *class, const void *object)
{
    coil_task *task;
    int rc;

    task = coil__task_require(class->call);
    if (coil_lock_release(lock) < 0)
        return coil__failed(-EPERM);
    rc = coil__waiters_wait(waiters, class, object);
    if (reacquire(lock, task))
        rc = -ECANCELED;
    if (rc < 0) {
        task->delivered = true;
        /* this task may have been notified, so notify another task instead */
        coil__condition_notify(waiters, 1);
    }
    return rc;
}

/* Abort if the condition was not initialised, or if called on the wrong thread. */
static void check(const coil_condition *condition, const char *caller)
{
    if (COIL__UNLIKELY(condition->lock == NULL))
        coil__misuse("%s: the condition was never given to coil_condition_init()",
                     caller);
    coil__waiters_check(&condition->waiters, caller);
}

int coil_condition_wait(coil_condition *condition)
{
    COIL__REQUIRE(condition, "a condition");
    static const struct coil__wait_class class =
        COIL__WAITER_CLASS("condition", "coil_condition_wait");

    check(condition, "coil_condition_wait");
    return coil__condition_wait(&condition->waiters, condition->lock, &class, condition);
}

int coil_condition_wait_for(coil_condition *condition, int (*predicate)(void *arg),
                            void *arg)
{
    COIL__REQUIRE(condition, "a condition");
    COIL__REQUIRE(predicate, "a function");
    int result;

    check(condition, "coil_condition_wait_for");
    while ((result = predicate(arg)) == 0) {
        int rc = coil_condition_wait(condition);

        if (rc < 0)
            return rc;
    }
    return result;
}

int coil_condition_notify(coil_condition *condition, size_t n)
{
    COIL__REQUIRE(condition, "a condition");
    check(condition, "coil_condition_notify");
    if (!condition->lock->locked)
        return coil__failed(-EPERM);
    coil__condition_notify(&condition->waiters, n);
    return 0;
}

int coil_condition_notify_all(coil_condition *condition)
{
    COIL__REQUIRE(condition, "a condition");
    check(condition, "coil_condition_notify_all");
    return coil_condition_notify(condition, SIZE_MAX);
}
