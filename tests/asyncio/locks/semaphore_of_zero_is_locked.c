/* A semaphore that begins with nothing is locked until something is released. */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(0);

static int taker(void *arg)
{
    int rc = coil_semaphore_acquire(&slots);

    (void)arg;
    if (rc == 0)
        trace("taken: locked %d", coil_semaphore_locked(&slots));
    return rc;
}

SCENARIO(semaphore_of_zero_is_locked)
{
    trace("locked %d", coil_semaphore_locked(&slots));
    if (start(taker, NULL) == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("it waits: locked %d", coil_semaphore_locked(&slots));
    coil_semaphore_release(&slots);
    coil_semaphore_release(&slots);
    trace("released twice: locked %d", coil_semaphore_locked(&slots));
    turns(1);
    trace("locked %d", coil_semaphore_locked(&slots));
    return 0;
}
