/*
 * A bounded semaphore does not become more than it was: a release too many is an error,
 * and changes nothing.
 */
#include "../scenario.h"

static coil_bounded_semaphore slots = COIL_BOUNDED_SEMAPHORE_INIT(2);

static void take(const char *how_many)
{
    coil_bounded_semaphore_acquire(&slots);
    if (how_many != NULL)
        trace("%s taken: locked %d", how_many, coil_bounded_semaphore_locked(&slots));
}

SCENARIO(bounded_semaphore_released_too_often)
{
    trace("all are free: %s", outcome(coil_bounded_semaphore_release(&slots)));
    take("one is");
    take("two are");
    for (int i = 0; i < 3; i++) {
        const char *rc = outcome(coil_bounded_semaphore_release(&slots));

        trace("%s: locked %d", rc, coil_bounded_semaphore_locked(&slots));
    }
    take(NULL);
    take("two are");
    return 0;
}
