/*
 * backtrace.c - finds the return addresses on the stack of any task.
 *
 * The stack of a waiting task is read without resuming the task: see
 * coil__backtrace_suspended(). So a backtrace has no effect on the task, and needs no
 * space on the task's stack. A task that is running a generator has several stacks, which
 * are walked one after another, innermost first.
 */
#include "print.h"

#include "../error/backtrace.h"
#include "../stream/stream.h"
#include "../sync/waiters.h"
#include "../task/light_task.h"

#include <coil/debug.h>

/*
 * True for the internal functions through which a task is suspended. A backtrace omits
 * these functions, and begins with the function that waits.
 */
static bool is_wait_machinery(uintptr_t function)
{
    return function == (uintptr_t)coil__coro_transfer ||
           function == (uintptr_t)coil__coro_transfer_alike ||
           function == (uintptr_t)coil__coro_transfer_with_care ||
           function == (uintptr_t)coil__coro_resume ||
           function == (uintptr_t)coil__task_switch_out ||
           function == (uintptr_t)coil__wait_park ||
           function == (uintptr_t)coil__waiters_wait ||
           function == (uintptr_t)coil__waiters_wait_as ||
           function == (uintptr_t)coil__op_await ||
           function == (uintptr_t)coil__readable_await ||
           function == (uintptr_t)coil__stream_wait_fd_readable ||
           function == (uintptr_t)coil__endpoint_do;
}

/*
 * Return the innermost coroutine of the task. If the task is running or has started
 * another task eagerly, the search goes from the current coroutine outwards to the task.
 * If the task is not found there, it is suspended.
 */
static coil__coro *innermost_coroutine(coil_task *task)
{
    coil__coro *coro = coil__coro_current(), *leaf = coro, *first = coro;

    while (coro != NULL && coro != &task->coro) {
        bool is_task = coro->class->main == task->coro.class->main;

        coro = coil__coro_outer(coro, &leaf);
        if (is_task)
            first = coro;
    }
    return coro != NULL ? first : task->leaf;
}

static size_t walk_coroutine(coil__coro *coro, void *addresses[], size_t max,
                             const void *from)
{
    if (coro == coil__coro_current())
        return coil__backtrace(addresses, max, from);
    return coil__backtrace_suspended(coro, addresses, max, is_wait_machinery);
}

int coil__task_backtrace(coil_task *task, void *addresses[], size_t max, const void *from)
{
    coil__coro *leaf, *coro;
    bool was_swapped_out;
    size_t n;

    coil__loop_check_thread(task->future.loop, "coil_task_backtrace");
    if (!task->started || task->coro.done)
        return 0;
    if (!coil__backtrace_has_room())
        return coil__failed(-ENOSPC);
    was_swapped_out = coil__task_swap_in(task);
    leaf = coro = innermost_coroutine(task);
    n = walk_coroutine(coro, addresses, max, from);
    while (coro != &task->coro && n < max) {
        coro = coil__coro_outer(coro, &leaf);
        n += walk_coroutine(coro, addresses + n, max - n, from);
    }
    if (was_swapped_out)
        coil__task_swap_out(task);
    return (int)n;
}

COIL__NOINLINE int coil_task_backtrace(coil_task *task, void *addresses[], int max)
{
    COIL__REQUIRE(task, "a task");
    COIL__REQUIRE_IF(max > 0, addresses, "an array");
    coil__future_check(&task->future, "coil_task_backtrace");
    return coil__task_backtrace(task, addresses, max > 0 ? (size_t)max : 0,
                                COIL__CALLER());
}
