/*
 * waiting.c - determines what a task is waiting for, and which tasks await a future.
 *
 * Tasks do not record anything for this purpose. A waiting task has a struct coil__wait,
 * whose class describes where the awaited futures are. The tasks that await a given
 * future are found by searching all tasks.
 */
#include "../task/task.h"

#include <coil/debug.h>

static coil_future *first_pending(const struct coil__wait *wait)
{
    coil_future *future;

    for (size_t i = 0; (future = coil__wait_future(wait, i)) != NULL; i++)
        if (coil__future_pending(future))
            return future;
    return NULL;
}

bool coil_task_waiting(const coil_task *task, coil_waiting *out)
{
    COIL__REQUIRE(task, "a task");
    COIL__REQUIRE(out, "an output pointer");
    coil__future_check_gone(&task->future, "coil_task_waiting");
    const struct coil__wait *wait = coil__task_waits(task);
    struct coil__waited waited;

    if (wait == NULL)
        return false;
    waited = coil__wait_describe(wait);
    *out = (coil_waiting){.what = waited.what,
                          .object = waited.object,
                          .future = first_pending(wait),
                          .deadline = waited.deadline,
                          .since = wait->since,
                          .fd = waited.fd};
    return true;
}

static bool awaits_future(const coil_task *task, const coil_future *future)
{
    const struct coil__wait *wait = coil__task_waits(task);
    const coil_future *awaited;

    if (wait == NULL)
        return false;
    for (size_t i = 0; (awaited = coil__wait_future(wait, i)) != NULL; i++)
        if (awaited == future)
            return true;
    return false;
}

static int visit_awaiters(const coil_future *future,
                          int (*visit)(coil_task *awaiter, void *arg), void *arg)
{
    coil_task *owner = coil__group_owner(future);
    int rc = 0;

    if (owner != NULL)
        rc = visit(owner, arg);
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        if (rc != 0)
            break;
        if (task != owner && awaits_future(task, future))
            rc = visit(task, arg);
    }
    return rc;
}

int coil_future_awaiters(coil_future *future, int (*visit)(coil_task *awaiter, void *arg),
                         void *arg)
{
    COIL__REQUIRE(future, "a future");
    COIL__REQUIRE(visit, "a function");
    coil__future_check(future, "coil_future_awaiters");
    struct coil__no_suspend region;
    int rc;

    if (!coil__future_pending(future) || coil__scheduler.hooked != future->loop)
        return 0;
    coil__no_suspend_enter(&region, "coil_future_awaiters() calls its visitor");
    rc = visit_awaiters(future, visit, arg);
    coil__no_suspend_exit(&region);
    return rc;
}

int coil_task_awaiters(coil_task *task, int (*visit)(coil_task *awaiter, void *arg),
                       void *arg)
{
    COIL__REQUIRE(task, "a task");
    COIL__REQUIRE(visit, "a function");
    coil__future_check(&task->future, "coil_task_awaiters");
    return coil_future_awaiters(&task->future, visit, arg);
}
