/* All that wait are woken by notify_all, and who comes later is not. */
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

static void notify_all(int times)
{
    coil_lock_acquire(&lock);
    while (times-- > 0)
        coil_condition_notify_all(&changed);
    coil_lock_release(&lock);
}

SCENARIO(condition_notify_all_wakes_everybody)
{
    coil_task *a = start(waiter, "a"), *b = start(waiter, "b"), *c;

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    notify_all(2);
    c = start(waiter, "c");
    if (c == NULL)
        return -ENOMEM;
    turns(2);
    trace("a %s, b %s, c %s", state(coil_task_future(a)), state(coil_task_future(b)),
          state(coil_task_future(c)));
    notify_all(1);
    trace("c: %s", outcome(coil_task_await(c)));
    return 0;
}
