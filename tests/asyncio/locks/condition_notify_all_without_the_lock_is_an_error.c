/*
 * Notifying all while nobody holds the lock is an error, even where nobody waits; any
 * task's holding it will do.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int holder(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    (void)arg;
    if (rc == 0)
        trace("held by another");
    return rc;
}

static void notify_all(void)
{
    trace("notify_all: %s", outcome(coil_condition_notify_all(&changed)));
}

SCENARIO(condition_notify_all_without_the_lock_is_an_error)
{
    notify_all();
    if (start(holder, NULL) == NULL)
        return -ENOMEM;
    turns(1);
    notify_all();
    coil_lock_release(&lock);
    notify_all();
    return 0;
}
