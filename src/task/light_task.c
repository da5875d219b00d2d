/*
 * light_task.c - decides which tasks' stacks may be swapped out, and swaps them in again.
 *
 * A light task's stack may be swapped out while coil has no pointers into it. coil has
 * none if the task's wait is in its control block (coil__wait_in_room()) and the only
 * regions that the task has entered are scopes without a deadline. All other waits are on
 * the stack itself, so their stacks stay resident. coro/light_swap.c swaps the stack out.
 *
 * coil__task_light_step() is the step of a task that has not begun or is swapped out.
 * This step swaps in the stacks of the task and of the tasks queued behind it, and then
 * calls coil__task_step().
 *
 * Other tasks of the thread may have pointers into the stack. An access through such a
 * pointer raises SIGSEGV, whose handler swaps the stack in. coil also swaps the stack in
 * before it cancels a task that has a shield, and before it prints a task.
 */
#include "light_task.h"

#include "../coro/light.h"
#include "hooks.h"
#include "step.h"

int coil__task_light_mode;

static coil_task *task_of(const struct coil__stack *stack)
{
    const coil__coro *coro = COIL__CONTAINER(stack, const coil__coro, stack);

    return COIL__CONTAINER((coil__coro *)(uintptr_t)coro, coil_task, coro);
}

/*
 * True if the stack must not move, because the task has entered a group (which is linked
 * to its children) or a scope with a deadline (which contains a timer).
 */
static bool has_region_that_pins(const coil_task *task)
{
    for (const struct coil__region *r = task->regions; r != NULL; r = r->outer)
        if (r->kind == COIL__GROUP || coil__scope_has_deadline(r))
            return true;
    return false;
}

/*
 * True while the task's hooks run. Hooks run on the task's stack, even after its wait has
 * begun.
 */
static bool is_in_hooks(const coil_task *task)
{
    return task->hooks != NULL && !task->hooks->are_left;
}

static bool is_swappable(const coil_task *task, int64_t since)
{
    const struct coil__wait *wait = coil__task_waits(task);

    return wait == &task->room.wait && wait->parked && wait->since <= since &&
           task->leaf == &task->coro && task != coil__scheduler.current &&
           !is_in_hooks(task) && !has_region_that_pins(task);
}

static bool lies_on(const struct coil__stack *stack, const void *sp)
{
    return (uintptr_t)sp - (uintptr_t)stack->low < coil__stack_bytes(stack);
}

/*
 * True if this code is running on the stack. A task that has ended still runs on its own
 * stack until the next switch.
 */
static bool runs_on(const struct coil__stack *stack)
{
    return lies_on(stack, coil__stack_pointer());
}

/*
 * Return the lowest live address of a stack that may be swapped out, or NULL if it must
 * stay. The stack of a task that has not begun may contain arguments; the stack of a task
 * that has ended contains nothing. A task that waits on one of the program's own stacks
 * has frames on both stacks, so its stack stays.
 */
static const char *lowest_live(const struct coil__stack *stack, int64_t since)
{
    const coil_task *task = task_of(stack);

    if (coil__task_light_mode == COIL__LIGHT_MANUAL || runs_on(stack))
        return NULL;
    if (task->coro.done)
        return coil__light_top(stack);
    if (!task->started)
        return stack->high;
    return is_swappable(task, since) && lies_on(stack, task->coro.sp) ? task->coro.sp
                                                                      : NULL;
}

static void set_light_step(struct coil__stack *stack)
{
    task_of(stack)->step.run = coil__task_light_step;
}

void coil__light_tasks_set_up(void)
{
    static const struct coil__light_owner owner = {.lowest_live = lowest_live,
                                                   .swapped_out = set_light_step};

    coil__light_owner = &owner;
}

bool coil__task_swap_out(coil_task *task)
{
    struct coil__stack *stack = &task->coro.stack;
    const char *sp = coil__stack_is_light(stack) ? lowest_live(stack, INT64_MAX) : NULL;

    return sp != NULL && coil__light_swap_out(stack, sp);
}

bool coil__task_swap_in(coil_task *task)
{
    struct coil__stack *stack = &task->coro.stack;

    if (!coil__stack_is_light(stack) || stack->state != COIL__LIGHT_STORED)
        return false;
    coil__light_swap_in(stack);
    return true;
}

/* ---- steps ------------------------------------------------------------------------- */

/* Swap in the stacks of the task and of the tasks queued behind it. None of these
   tasks is waiting, so none is swapped out again before its step. */
static void swap_in_ahead(coil_task *task)
{
    const coil_loop *loop = task->future.loop;
    struct coil__stack *stacks[COIL__LIGHT_AHEAD] = {&task->coro.stack};
    struct coil__list *link = loop->batch.next;
    size_t n = 1;

    for (; link != &loop->batch && n < COIL__LIGHT_AHEAD; link = link->next) {
        struct coil__runnable *runnable =
            COIL__CONTAINER(link, struct coil__runnable, link);
        coil_task *next = COIL__CONTAINER(runnable, coil_task, step);

        if (runnable->run != coil__task_light_step || !next->started)
            break;
        stacks[n++] = &next->coro.stack;
        runnable->run = coil__task_step;
    }
    coil__light_swap_in_all(stacks, n);
}

static void step_and_swap_out(coil_task *task)
{
    coil__future_retain(&task->future);
    coil__task_step(&task->step);
    coil__task_swap_out_always(task);
    coil__future_release(&task->future);
}

void coil__task_swap_out_always(coil_task *task)
{
    if (!coil__stack_is_light(&task->coro.stack) || task->coro.done)
        return;
    coil__task_swap_out(task);
    task->step.run = coil__task_light_step;
}

void coil__task_light_step(struct coil__runnable *runnable)
{
    coil_task *task = COIL__CONTAINER(runnable, coil_task, step);
    bool always = coil__task_light_mode == COIL__LIGHT_ALWAYS;

    if (task->future.loop->closing)
        return;
    if (!task->started && task->must_cancel) {
        coil__task_end_unbegun(task);
        return;
    }
    if (!task->started)
        coil__task_begin(task);
    else if (always)
        coil__light_swap_in(&task->coro.stack);
    else
        swap_in_ahead(task);
    task->step.run = coil__task_step;
    if (always)
        step_and_swap_out(task);
    else
        coil__task_step(runnable);
}
