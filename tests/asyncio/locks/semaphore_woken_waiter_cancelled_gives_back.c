/*
 * A waiter that is cancelled after the release was given to it gives it back: the
 * semaphore can be acquired again.
 */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(1);
static coil_task *second_task;

static int first(void *arg)
{
    int rc = coil_semaphore_acquire(&slots);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("first is in");
    turns(1);
    coil_semaphore_release(&slots);
    trace("first is out");
    if (second_task != NULL)
        coil_task_cancel(second_task, NULL);
    return 0;
}

static int second(void *arg)
{
    int rc = coil_semaphore_acquire(&slots);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("never printed");
    coil_semaphore_release(&slots);
    return 0;
}

static int take_within_a_second(void)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(1)));

    return rc < 0 ? rc : coil_scope_exit(&scope, coil_semaphore_acquire(&slots));
}

SCENARIO(semaphore_woken_waiter_cancelled_gives_back)
{
    coil_task *first_task = start(first, NULL);

    second_task = first_task != NULL ? start(second, NULL) : NULL;
    if (second_task == NULL)
        return -ENOMEM;
    trace("first: %s", outcome(coil_task_await(first_task)));
    trace("locked %d", coil_semaphore_locked(&slots));
    trace("second: %s", outcome(coil_task_await(second_task)));
    trace("locked %d", coil_semaphore_locked(&slots));
    trace("we: %s", outcome(take_within_a_second()));
    return 0;
}
