/* A lock belongs to nobody: one task takes it, another gives it back. */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

static int releaser(void *arg)
{
    int rc = coil_sleep(COIL_SEC(2));

    (void)arg;
    coil_lock_release(&lock);
    trace("released");
    return rc;
}

SCENARIO(lock_may_be_released_by_another_task)
{
    coil_lock_acquire(&lock);
    if (start(releaser, NULL) == NULL)
        return -ENOMEM;
    trace("taken");
    coil_lock_acquire(&lock);
    trace("taken again");
    return 0;
}
