/*
 * Waiting for a condition whose lock nobody holds is an error, at once; with the lock it
 * is none.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int waiter(void *name)
{
    int rc = coil_condition_wait(&changed);

    if (rc < 0)
        return rc;
    trace("%s goes on", (char *)name);
    coil_lock_release(&lock);
    return 0;
}

SCENARIO(condition_wait_without_the_lock_is_an_error)
{
    coil_task *task;

    if (start(ticker, TURNS(2)) == NULL)
        return -ENOMEM;
    trace("%s", outcome(waiter("we")));
    coil_lock_acquire(&lock);
    task = start(waiter, "the task");
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("%s", outcome(waiter("we")));
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    coil_lock_release(&lock);
    trace("%s", outcome(coil_task_await(task)));
    return 0;
}
