/*
 * A task that is cancelled while it waits for a semaphore takes nothing: the next release
 * is for whoever comes.
 */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(1);

static int taker(void *arg)
{
    (void)arg;
    trace("wants in");
    return coil_semaphore_acquire(&slots);
}

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

SCENARIO(semaphore_acquire_cancelled_leaves_the_line)
{
    coil_task *task = start(taker, NULL);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    coil_semaphore_acquire(&slots);
    rc = coil_call_soon(cancel, task, NULL);
    if (rc < 0)
        return rc;
    trace("taker: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_semaphore_locked(&slots));
    coil_semaphore_release(&slots);
    trace("locked %d", coil_semaphore_locked(&slots));
    coil_semaphore_acquire(&slots);
    trace("locked %d", coil_semaphore_locked(&slots));
    return 0;
}
