/*
 * backtrace.c - where a task stands.
 *
 * A task that waits is not switched to: see coil__backtrace_suspended(). So looking
 * changes nothing, needs no room on its stack and makes no page of it resident.
 * Generators inside it have stacks of their own, which are walked one after the other,
 * from the inside out.
 */
#include "print.h"

#include "../error/backtrace.h"
#include "../net/endpoint.h"
#include "../os/op.h"
#include "../sync/waiters.h"

#include <coil/debug.h>

/* What stands between the function that waits and the switch. */
static bool is_machinery(uintptr_t function)
{
    return function == (uintptr_t)coil__coro_transfer ||
           function == (uintptr_t)coil__coro_resume ||
           function == (uintptr_t)coil__task_switch_out ||
           function == (uintptr_t)coil__wait_park ||
           function == (uintptr_t)coil__waiters_wait ||
           function == (uintptr_t)coil__op_await ||
           function == (uintptr_t)coil__endpoint_do;
}

/*
 * The innermost of the task's coroutines. The stack in use may be part of several tasks:
 * of one that runs, and of those that started it eagerly, one after the other.
 */
static coil__coro *innermost(coil_task *task)
{
    coil__coro *coro = coil__coro_current(), *leaf = coro, *first = coro;

    while (coro != NULL && coro != &task->coro) {
        bool is_task = coro->fn == task->coro.fn;

        coro = coil__coro_outer(coro, &leaf);
        if (is_task)
            first = coro;
    }
    return coro != NULL ? first : task->leaf;
}

static size_t walk(coil__coro *coro, void *addresses[], size_t max, const void *from)
{
    if (coro == coil__coro_current())
        return coil__backtrace(addresses, max, from);
    return coil__backtrace_suspended(coro, addresses, max, is_machinery);
}

int coil__task_backtrace(coil_task *task, void *addresses[], size_t max, const void *from)
{
    coil__coro *leaf, *coro;
    size_t n;

    coil__loop_check_thread(task->future.loop);
    if (!task->started || task->coro.done)
        return 0;
    if (!coil__backtrace_has_room())
        return -ENOSPC;
    leaf = coro = innermost(task);
    n = walk(coro, addresses, max, from);
    while (coro != &task->coro && n < max) {
        coro = coil__coro_outer(coro, &leaf);
        n += walk(coro, addresses + n, max - n, from);
    }
    return (int)n;
}

COIL__NOINLINE int coil_task_backtrace(coil_task *task, void *addresses[], int max)
{
    return coil__task_backtrace(task, addresses, max > 0 ? (size_t)max : 0,
                                COIL__CALLER());
}
