/*
 * Notifying one, then all that are left and more, wakes the waiters in the order in which
 * they came, each once.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int waiter(void *name)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait(&changed);
    if (rc == 0)
        trace("%s goes on", (char *)name);
    coil_lock_release(&lock);
    return rc;
}

static void notify(size_t first, size_t then)
{
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, first);
    coil_condition_notify(&changed, then);
    coil_lock_release(&lock);
    turns(1);
    trace("that was it");
}

SCENARIO(condition_notify_wakes_so_many)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    for (int i = 0; i < 4; i++)
        if (start(waiter, (void *)names[i]) == NULL)
            return -ENOMEM;
    turns(1);
    notify(0, 0);
    notify(1, 0);
    notify(1, 2048);
    notify(1, 0);
    return 0;
}
