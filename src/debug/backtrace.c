/*
 * backtrace.c - where a task stands.
 *
 * A task that waits is not switched to: what it takes to unwind its stack are the
 * registers that were put there when it was left, and coil__switch_look() shows those to
 * the unwinder. So looking changes nothing, needs no room on that stack and makes no page
 * of it resident. A generator inside the task has a stack of its own: they are walked one
 * after the other, from the inside out.
 *
 * What coil has at both ends of such a stack, the switch and the entry, is left out.
 */
#include "../coro/switch.h"
#include "../task/task.h"

#include <coil/debug.h>

#include <unwind.h>

/* The switch is found within so many frames of the inner end. */
#define MACHINERY_DEPTH 8

/* What the unwinder takes, and some: under the sanitizers frames are larger. */
#define WALK_BYTES (COIL__ASAN || COIL__TSAN ? 32768 : 8192)

struct walk {
    void **addresses;
    size_t count, max;
    size_t first, depth; /* of the present stack: where it begins, how many were seen */
    size_t to_skip;      /* frames of the walk itself, where it is not on its own stack */
    const void *from;    /* else, the first of interest; NULL: we are past it */
    const coil__coro *coro;
};

/* What stands between the function that waits and the switch. */
static bool is_machinery(uintptr_t function)
{
    return function == (uintptr_t)coil__coro_transfer ||
           function == (uintptr_t)coil__coro_resume ||
           function == (uintptr_t)coil__task_switch_out ||
           function == (uintptr_t)coil__wait_park;
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *frame, void *arg)
{
    struct walk *w = arg;
    uintptr_t function = (uintptr_t)_Unwind_GetRegionStart(frame);

    if (w->to_skip > 0) {
        w->to_skip--;
        return _URC_NO_REASON;
    }
    if (w->from != NULL && w->from != (void *)_Unwind_GetIP(frame))
        return _URC_NO_REASON;
    w->from = NULL;
    if (function == (uintptr_t)w->coro->fn || _Unwind_GetIP(frame) == 0)
        return _URC_END_OF_STACK;
    w->depth++;
    if (w->depth <= MACHINERY_DEPTH && is_machinery(function)) {
        w->count = w->first;
        return _URC_NO_REASON;
    }
    if (w->count < w->max)
        w->addresses[w->count++] = (void *)_Unwind_GetIP(frame);
    else if (w->depth > MACHINERY_DEPTH)
        return _URC_END_OF_STACK;
    return _URC_NO_REASON;
}

/* Not inlined, nor left by a tail call: coil__switch_look() has it skipped. */
static COIL__NOINLINE void walk(void *arg)
{
    _Unwind_Backtrace(visit, arg);
    __asm__ volatile("");
}

/* The frames of one coroutine: the one that runs, or one that is suspended. */
static void add_stack(struct walk *w, const coil__coro *coro)
{
    w->coro = coro;
    w->first = w->count;
    w->depth = 0;
    if (coro == coil__coro_current()) {
        walk(w);
        return;
    }
    w->to_skip = 2; /* walk() and coil__switch_look() */
    w->from = NULL;
    coil__switch_look(coro->sp, walk, w);
}

/* The walk takes place on the caller's stack. */
static bool room_for_a_walk(void)
{
    const coil__coro *coro = coil__coro_current();
    const char *here = __builtin_frame_address(0);

    return coro->stack.slot == NULL || here - coro->stack.low >= WALK_BYTES;
}

static bool stands_still(const coil_task *task)
{
    return task->wait != NULL || !coil__list_empty(&task->step.link);
}

int coil_task_backtrace(coil_task *task, void *addresses[], int n)
{
    bool own = task == coil__scheduler.current;
    coil__coro *leaf = own ? coil__coro_current() : task->leaf, *coro = leaf;
    struct walk w = {.addresses = addresses, .max = n > 0 ? (size_t)n : 0};
    int saved = errno;

    coil__loop_check_thread(task->future.loop);
    if (!task->started || task->coro.done)
        return 0;
    if (!own && !stands_still(task))
        return -EBUSY;
    if (!room_for_a_walk())
        return -ENOSPC;
    w.from = __builtin_return_address(0);
    add_stack(&w, coro);
    while (coro != &task->coro) {
        coro = coil__coro_outer(coro, &leaf);
        add_stack(&w, coro);
    }
    errno = saved;
    return (int)w.count;
}
