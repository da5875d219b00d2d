/*
 * A semaphore for which nobody waits is free at once when it is released, and may become
 * more than it was.
 */
#include "../scenario.h"

static coil_semaphore slots = COIL_SEMAPHORE_INIT(1);

SCENARIO(semaphore_released_without_waiters_is_free)
{
    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    coil_semaphore_acquire(&slots);
    trace("locked %d", coil_semaphore_locked(&slots));
    coil_semaphore_release(&slots);
    trace("locked %d", coil_semaphore_locked(&slots));
    coil_semaphore_release(&slots);
    coil_semaphore_acquire(&slots);
    trace("one is taken: locked %d", coil_semaphore_locked(&slots));
    coil_semaphore_acquire(&slots);
    trace("two are taken: locked %d", coil_semaphore_locked(&slots));
    return 0;
}
