/*
 * waiting.c - what tasks wait for, and who waits for whom.
 *
 * Nothing is kept for it: a waiting task has its wait, a wait has its class, and the
 * class knows the futures. Who awaits a future is found by asking all tasks.
 */
#include "../task/task.h"

#include <coil/debug.h>

static coil_future *first_pending(const struct coil__wait *wait)
{
    coil_future *future;

    if (wait->class->future == NULL)
        return NULL;
    for (size_t i = 0; (future = wait->class->future(wait, i)) != NULL; i++)
        if (coil__future_pending(future))
            return future;
    return NULL;
}

bool coil_task_waiting(const coil_task *task, coil_waiting *out)
{
    const struct coil__wait *wait = coil__task_waits(task);
    struct coil__waited waited = {.deadline = COIL_NEVER, .fd = -1};

    if (wait == NULL)
        return false;
    if (wait->class->describe != NULL)
        wait->class->describe(wait, &waited);
    *out = (coil_waiting){.what = wait->class->what,
                          .object = waited.object,
                          .future = first_pending(wait),
                          .deadline = waited.deadline,
                          .since = wait->since,
                          .fd = waited.fd};
    return true;
}

static bool awaits(const coil_task *task, const coil_future *future)
{
    const struct coil__wait *wait = coil__task_waits(task);
    const coil_future *awaited;

    if (wait == NULL || wait->class->future == NULL)
        return false;
    for (size_t i = 0; (awaited = wait->class->future(wait, i)) != NULL; i++)
        if (awaited == future)
            return true;
    return false;
}

int coil_future_awaiters(coil_future *future, int (*visit)(coil_task *awaiter, void *arg),
                         void *arg)
{
    coil_task *owner;
    int rc = 0;

    if (!coil__future_pending(future) || coil__scheduler.hooked != future->loop)
        return 0;
    owner = coil__group_owner(future);
    if (owner != NULL)
        rc = visit(owner, arg);
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        if (rc != 0)
            break;
        if (task != owner && awaits(task, future))
            rc = visit(task, arg);
    }
    return rc;
}

int coil_task_awaiters(coil_task *task, int (*visit)(coil_task *awaiter, void *arg),
                       void *arg)
{
    return coil_future_awaiters(&task->future, visit, arg);
}
