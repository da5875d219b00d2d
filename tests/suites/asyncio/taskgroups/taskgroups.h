/*
 * taskgroups.h - functions shared by scenarios about task groups.
 */
#ifndef TESTS_ASYNCIO_TASKGROUPS_H
#define TESTS_ASYNCIO_TASKGROUPS_H

#include "../scenario.h"

/*
 * What a child does: it sleeps, prints the outcome, and returns `rc`. If it is cancelled,
 * it returns `when_cancelled`, or -ECANCELED if `when_cancelled` is 0.
 */
struct child {
    const char *name;
    int seconds, rc, when_cancelled;
};

static inline int child(void *arg)
{
    const struct child *c = arg;
    int rc = trace_outcome(c->name, coil_sleep(COIL_SEC(c->seconds)));

    if (rc == 0)
        return c->rc;
    return c->when_cancelled != 0 ? c->when_cancelled : rc;
}

/* Start n children. */
static inline int start_children(coil_group *group, struct child *children, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (start_child(group, child, &children[i]) == NULL)
            return -ENOMEM;
    return 0;
}

/*
 * Exit from the group, and write `what`, the outcome and the group's failures to the
 * trace.
 */
static inline int leave(const char *what, coil_group *group, int rc)
{
    rc = trace_outcome(what, coil_group_exit(group, rc));
    if (coil_group_error_count(group) > 0)
        trace("%s: failures %s", what, failures(group));
    return rc;
}

/* Cancel the task after this number of seconds, wait for it, and print its result. */
static inline int cancel_after(int seconds, coil_task *task)
{
    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(seconds));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace_outcome("task", coil_task_await(task));
    return 0;
}

#endif
