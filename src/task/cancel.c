/*
 * cancel.c - requests to cancel tasks.
 *
 * A request to cancel a task is counted in the task. If the task is awaiting another task
 * or gathering futures, the request is passed on to that task or to these futures. So the
 * request walks a tree of tasks depth first, in the same order as in asyncio. asyncio
 * uses recursion for this walk, whereas coil follows each chain of tasks in a loop. At a
 * branch, a struct in the gathering task's frame stores which future is next.
 *
 *     task --> task --> gather -+-> future
 *                               +-> task --> gather -+-> task --> sleep
 *                                                    +-> task        ^ we are here
 *               scheduler.branch: the inner gather --outer--> the outer one
 *
 * No task runs during this walk, so the tree does not change. The walk never allocates
 * memory. A chain ends at a wait that awaits no task. If that wait cannot be cancelled or
 * is already complete, the request is stored in the task's must_cancel, and wait.c
 * delivers it later. region.c holds back requests from outside a shield.
 *
 * If tasks await each other in a cycle, none of them can ever end, so the walk aborts the
 * program. To detect a cycle without branches, the walk marks the task that it reaches
 * after 1, 2, 4, ... steps: in a cycle, it reaches a marked task again. A cycle with a
 * branch is detected when the walk reaches a branch that is still open.
 */
#include "light_task.h"

#include <string.h>

struct coil__cancel_origin coil__cancel_origin_here(const char *reason,
                                                    const void *address)
{
    struct coil__cancel_origin origin = {.reason = reason, .address = address};
    const coil_task *canceller = coil__scheduler.current;

    if (canceller != NULL)
        origin.task = &canceller->name;
    return origin;
}

COIL__NORETURN static void abort_at_cycle(const coil_task *task)
{
    coil__misuse("task '%s' awaits tasks that await each other: none of them can ever "
                 "end",
                 coil_task_name(task));
}

/*
 * Count a request to cancel this task. If the task awaits another task, return that task:
 * the caller passes the request on. Otherwise cancel the task's wait, or set must_cancel
 * if that is impossible, and return NULL. If a shield holds the request back, only count
 * it and return NULL.
 */
static coil_task *
cancel_one_task(coil_task *task, const struct coil__cancel_origin *origin, unsigned depth)
{
    struct coil__wait *wait = task->wait;
    coil_task *awaited;

    task->cancelling++;
    task->canceller_reason = origin->reason;
    task->canceller_address = origin->address;
    coil__name_copy(&task->canceller_name, origin->task);
    task->future.cancel_reason = origin->reason;
    if (COIL__UNLIKELY(task->shield != NULL))
        coil__task_swap_in(task); /* the shields are stored on the task's stack */
    if (COIL__UNLIKELY(coil__shields_hold(task, depth)))
        return NULL;
    awaited = wait != NULL ? coil__wait_awaited(wait) : NULL;
    if (awaited != NULL || (wait != NULL && coil__wait_cancel(wait)))
        task->passed_on = true;
    else
        task->must_cancel = true;
    return awaited;
}

static void cancel_chain(coil_task *task, const struct coil__cancel_origin *origin,
                         unsigned depth)
{
    coil_task *mark = task;
    size_t steps = 0, steps_to_mark = 1;

    while ((task = cancel_one_task(task, origin, depth)) != NULL) {
        if (task == mark)
            abort_at_cycle(task);
        if (++steps == steps_to_mark) {
            mark = task;
            steps = 0;
            steps_to_mark *= 2;
        }
        depth = 0;
    }
}

/* ---- branches ---------------------------------------------------------------------- */

void coil__wait_branch(struct coil__wait *wait, struct coil__branch *branch)
{
    if (branch->open)
        abort_at_cycle(wait->task);
    branch->open = true;
    branch->wait = wait;
    branch->next = 0;
    branch->outer = coil__scheduler.branch;
    coil__scheduler.branch = branch;
}

/*
 * Return the branch's next pending future. After the last future, close the branch and
 * return NULL.
 */
static coil_future *next_future(struct coil__branch *branch)
{
    const struct coil__wait *wait = branch->wait;
    coil_future *future;

    while ((future = coil__wait_future(wait, branch->next++)) != NULL)
        if (coil__future_pending(future))
            return future;
    branch->open = false;
    coil__scheduler.branch = branch->outer;
    return NULL;
}

/* Pass the request on to the futures of all branches opened since `outermost`. */
static void cancel_branches(const struct coil__branch *outermost,
                            const struct coil__cancel_origin *origin)
{
    while (coil__scheduler.branch != outermost) {
        coil_future *future = next_future(coil__scheduler.branch);

        if (future == NULL)
            continue;
        if (future->is_task)
            cancel_chain(COIL__CONTAINER(future, coil_task, future), origin, 0);
        else
            coil_future_cancel(future, origin->reason);
    }
}

bool coil__task_cancel(coil_task *task, const struct coil__cancel_origin *origin,
                       unsigned depth)
{
    const struct coil__branch *outermost = coil__scheduler.branch;

    if (!coil__future_pending(&task->future)) {
        coil__future_retrieve(&task->future);
        return false;
    }
    coil__loop_check_thread(task->future.loop, "coil_task_cancel");
    if (COIL__UNLIKELY(task->future.loop->closing))
        return false;
    if (COIL__UNLIKELY(task->future.loop->trace != NULL))
        coil__trace_put(task->future.loop->trace, COIL__TRACE_CANCEL,
                        (uintptr_t)origin->address, task->coro.number, 0);
    cancel_chain(task, origin, depth);
    cancel_branches(outermost, origin);
    return true;
}

bool coil__future_cancel(coil_future *future, const struct coil__cancel_origin *origin)
{
    if (future->is_task)
        return coil__task_cancel(COIL__CONTAINER(future, coil_task, future), origin, 0);
    return coil_future_cancel(future, origin->reason);
}

bool coil__task_cancel_wait(coil_task *task, struct coil__wait *wait)
{
    const struct coil__branch *outermost = coil__scheduler.branch;
    struct coil__cancel_origin origin = coil__task_cancel_origin(task);
    bool cancelled = coil__wait_cancel(wait);

    cancel_branches(outermost, &origin);
    return cancelled;
}

/* ---- public functions -------------------------------------------------------------- */

COIL__NOINLINE bool coil_task_cancel(coil_task *task, const char *reason)
{
    COIL__REQUIRE(task, "a task");
    struct coil__cancel_origin origin = coil__cancel_origin_here(reason, COIL__CALLER());

    coil__loop_check_stack("coil_task_cancel");
    coil__future_check(&task->future, "coil_task_cancel");
    return coil__task_cancel(task, &origin, 0);
}

int coil_task_cancelling(const coil_task *task)
{
    COIL__REQUIRE(task, "a task");
    coil__future_check_gone(&task->future, "coil_task_cancelling");
    return (int)task->cancelling;
}

unsigned coil__task_uncancel(coil_task *task)
{
    if (task->cancelling > 0) {
        task->cancelling--;
        if (COIL__UNLIKELY(task->held > task->cancelling))
            coil__shields_drop(task);
        if (coil__task_requests(task) == 0)
            task->must_cancel = false;
    }
    return coil__task_requests(task);
}

int coil_uncancel(void)
{
    coil_task *task = coil__task_require("coil_uncancel");

    coil__task_uncancel(task);
    return (int)task->cancelling;
}

void coil_cancel_caught(void)
{
    coil_task *task = coil__task_require("coil_cancel_caught");

    task->delivered = false;
    task->refused_waits = 0;
}

bool coil_cancel_delivered(void)
{
    const coil_task *task = coil__scheduler.current;

    return task != NULL && task->delivered;
}

int coil_cancel_result(int rc)
{
    return rc < 0 && coil_cancel_delivered() ? coil__failed(-ECANCELED) : rc;
}

unsigned coil_cancel_refusals(void)
{
    const coil_task *task = coil__scheduler.current;

    return task != NULL && task->delivered ? task->refused_waits : 0;
}

bool coil_cancel_held(void)
{
    const coil_task *task = coil__scheduler.current;

    return task != NULL && task->hold_cancel;
}

const char *coil_cancel_reason(void)
{
    return coil__task_require("coil_cancel_reason")->future.cancel_reason;
}

bool coil_task_cancel_origin(const coil_task *task, coil_cancel_origin *out)
{
    COIL__REQUIRE(task, "a task");
    COIL__REQUIRE(out, "an output pointer");
    coil__future_check_gone(&task->future, "coil_task_cancel_origin");
    if (task->canceller_address == NULL)
        return false;
    *out = (coil_cancel_origin){.reason = task->canceller_reason,
                                .address = task->canceller_address};
    strcpy(out->task, coil__name_text(&task->canceller_name));
    return true;
}
