/*
 * Of three waiters two are notified and the first of them cancelled: the second and the
 * third go on.
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

SCENARIO(condition_two_notified_and_the_first_cancelled_wakes_a_third)
{
    coil_task *a = start(waiter, "a"), *b = start(waiter, "b"), *c = start(waiter, "c");

    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 2);
    coil_task_cancel(a, NULL);
    coil_lock_release(&lock);
    for (int i = 0; i < 2; i++) {
        turns(1);
        trace("a %s, b %s, c %s", state(coil_task_future(a)), state(coil_task_future(b)),
              state(coil_task_future(c)));
    }
    return 0;
}
