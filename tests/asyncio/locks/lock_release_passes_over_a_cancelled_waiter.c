/*
 * Where the first in line is cancelled in the turn in which the lock is released, the
 * lock goes to the second.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

struct holder {
    const char *name;
    coil_future *until;
};

static int hold(const struct holder *self)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    trace("%s has it", self->name);
    rc = self->until != NULL ? coil_await(self->until) : 0;
    if (rc < 0)
        return rc;
    coil_lock_release(&lock);
    trace("%s gave it back", self->name);
    return 0;
}

static int holder(void *arg)
{
    struct holder *self = arg;
    int rc = hold(self);

    if (rc == -ECANCELED)
        trace("%s was cancelled", self->name);
    return rc;
}

SCENARIO(lock_release_passes_over_a_cancelled_waiter)
{
    static struct holder holders[] = {{"a", NULL}, {"b", NULL}, {"c", NULL}};
    coil_task *tasks[3];

    holders[0].until = new_future();
    if (holders[0].until == NULL)
        return -ENOMEM;
    for (int i = 0; i < 3; i++) {
        tasks[i] = start(holder, &holders[i]);
        if (tasks[i] == NULL)
            return -ENOMEM;
        turns(1);
    }
    coil_future_set(holders[0].until, 0, NULL, NULL);
    coil_task_cancel(tasks[1], NULL);
    turns(1);
    trace("locked %d; a %s, b %s", coil_lock_locked(&lock),
          state(coil_task_future(tasks[0])), state(coil_task_future(tasks[1])));
    trace("c: %s", outcome(coil_task_await(tasks[2])));
    return 0;
}
