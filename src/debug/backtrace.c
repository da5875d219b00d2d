/*
 * backtrace.c - where a task stands.
 *
 * A task that waits is not switched to: see coil__backtrace_suspended(). So looking
 * changes nothing, needs no room on its stack and makes no page of it resident.
 * Generators inside it have stacks of their own, which are walked one after the other,
 * from the inside out.
 */
#include "../error/backtrace.h"
#include "../task/task.h"

#include <coil/debug.h>

/* What stands between the function that waits and the switch. */
static bool is_machinery(uintptr_t function)
{
    return function == (uintptr_t)coil__coro_transfer ||
           function == (uintptr_t)coil__coro_resume ||
           function == (uintptr_t)coil__task_switch_out ||
           function == (uintptr_t)coil__wait_park;
}

static bool stands_still(const coil_task *task)
{
    return task->wait != NULL || !coil__list_empty(&task->step.link);
}

int coil_task_backtrace(coil_task *task, void *addresses[], int max)
{
    bool own = task == coil__scheduler.current;
    coil__coro *leaf = own ? coil__coro_current() : task->leaf, *coro = leaf;
    size_t n = 0, room = max > 0 ? (size_t)max : 0;

    coil__loop_check_thread(task->future.loop);
    if (!task->started || task->coro.done)
        return 0;
    if (!own && !stands_still(task))
        return -EBUSY;
    if (!coil__backtrace_has_room())
        return -ENOSPC;
    if (own)
        n = coil__backtrace(addresses, room, __builtin_return_address(0));
    else
        n = coil__backtrace_suspended(coro, addresses, room, is_machinery);
    while (coro != &task->coro && n < room) {
        coro = coil__coro_outer(coro, &leaf);
        n += coil__backtrace_suspended(coro, addresses + n, room - n, is_machinery);
    }
    return (int)n;
}
