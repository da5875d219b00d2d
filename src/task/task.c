/*
 * task.c - tasks: coroutines that the loop steps, each with a future for its result.
 *
 * A task is a stack with the control block at its top. A task needs one mapping, one page
 * of memory while it waits, and no heap memory. This file runs the steps of tasks and
 * ends tasks. create.c creates them, block.c recycles their control blocks, scheduler.c
 * attaches them to a loop, and wait.c covers the time between two steps.
 *
 * Invariants
 * 1. From the beginning of a wait until the task is resumed, `step` is in at most one
 *    list: the ready queue, or the callbacks of the future that the task awaits. So no
 *    two events can resume a task from the same wait.
 * 2. The loop holds a reference until the task's function has returned. After that, the
 *    pages below the control block are trimmed. The block is freed with the last
 *    reference.
 * 3. Control enters a task only from coil__task_step(), directly from another task that
 *    waits or ends, or the first time from coil__task_start_eagerly(). Control leaves a
 *    task only through
 *    coil__task_switch_out() or when its function returns. If a task waits inside a
 *    generator, `leaf` is the generator's coroutine.
 */
#include "task.h"
#include "light_task.h"
#include "budget.h"
#include "failure.h"
#include "hooks.h"
#include "step.h"
#include "trace_task.h"

#include "../base/probe.h"
#include "../coro/light.h"
#include "../coro/switch.h"

COIL__THREAD_LOCAL struct coil__scheduler coil__scheduler;

coil_task *coil_task_current(void)
{
    return coil__scheduler.current;
}

void coil__task_missing(const char *caller)
{
    coil__loop_check_handler(caller);
    if (coil__loop_of_parent != NULL && coil__loop_of_thread == NULL)
        coil__fork_misuse(caller);
    coil__misuse("%s: no task is running here, so nothing can be suspended "
                 "(a callback, or code outside coil_run)",
                 caller);
}

/* ---- the end --------------------------------------------------------------------- */

/*
 * Remove the task from the list of tasks. A leftover (a task that a run waits for before
 * it ends) stays in the list until the run releases it, so that the order is preserved.
 */
static void leave_scheduler(coil_task *task)
{
    if (COIL__UNLIKELY(coil__scheduler.trim.next == &task->link))
        coil__scheduler.trim.next = task->link.next;
    if (COIL__LIKELY(!task->leftover))
        coil__list_remove(&task->link);
    else if (--coil__scheduler.leftover_count == 0)
        coil_loop_stop(task->future.loop);
}

/* Abort unless the task has closed all its scopes, groups and no_suspend regions. */
static COIL__NOINLINE void check_all_is_closed(const coil_task *task)
{
    const struct coil__no_suspend *region = &coil__scheduler.no_suspend;
    char open[200];

    if (task->regions != NULL)
        coil__misuse("task '%s' has ended with %s", coil_task_name(task),
                     coil__region_outermost(task, open, sizeof open));
    if (region->outer != NULL && region->task == task)
        coil__misuse("task '%s' has ended in a region where it must not wait: %s",
                     coil_task_name(task),
                     coil__no_suspend_describe(region, open, sizeof open));
}

/* Finish a task with the result rc. Every way to end a task ends with this call. */
static inline void finish_task(coil_task *task, int rc)
{
    COIL__PROBE2(task_done, task->coro.number, rc);
    coil__stack_trim(&task->coro.stack);
    coil__timer_unreserve(&task->future.loop->timers);
    leave_scheduler(task);
    if (COIL__UNLIKELY(task->group != NULL))
        coil__group_child_ends(task);
    coil__future_complete(&task->future, rc);
    coil__future_release(&task->future);
}

static COIL__NOINLINE void end_task(coil_task *task, int rc)
{
    if (COIL__UNLIKELY(task->regions != NULL || coil__scheduler.no_suspend.outer != NULL))
        check_all_is_closed(task);
    if (rc >= 0 && task->must_cancel)
        rc = -ECANCELED; /* cancelled just before its function returned */
    else if (rc == -EINPROGRESS)
        coil__misuse("task '%s' returned -EINPROGRESS, which is not a result",
                     coil_task_name(task));
    task->must_cancel = false;
    if (COIL__UNLIKELY(coil__scheduler.trace != NULL))
        coil__trace_put(coil__scheduler.trace, COIL__TRACE_END, (uint64_t)rc,
                        task->coro.number, 0);
    /* after a failure, a report may still need the context */
    if (COIL__LIKELY(rc >= 0 || rc == -ECANCELED))
        coil__context_slot_finish(&task->context);
    if (COIL__UNLIKELY(task->future.error != NULL))
        coil__failure_settle(&task->future, rc);
    finish_task(task, rc);
}

/* ---- steps ----------------------------------------------------------------------- */

/* Call the deferred functions and the end hooks of a task whose function has returned. */
static COIL__NOINLINE void end_with_care(coil_task *task)
{
    if (coil__scheduler.current != task)
        coil__fork_misuse("returning from the body of a task");
    if (task->deferred != NULL)
        coil__task_run_deferred(task);
    if (task->hooks != NULL)
        coil__hooks_end(task);
}

static void *task_main(coil__coro *coro)
{
    coil_task *task = COIL__CONTAINER(coro, coil_task, coro);
    int rc;

    if (COIL__UNLIKELY(task->hooks != NULL))
        coil__hooks_enter(task);
    rc = task->fn(coro->arg);
    if (COIL__UNLIKELY(coil__scheduler.current != task || task->deferred != NULL ||
                       task->hooks != NULL))
        end_with_care(task);
    return (void *)(intptr_t)rc;
}

static const char *label_task(const coil__coro *coro)
{
    return coil__name_text(&COIL__CONTAINER(coro, const coil_task, coro)->name);
}

const struct coil__coro_class coil__task_class = {
    .kind = COIL__CORO_TASK, .main = task_main, .label = label_task};
const struct coil__coro_class coil__task_light_class = {
    .kind = COIL__CORO_TASK, .main = task_main, .label = label_task, .light = true};

_Static_assert(sizeof(coil_task) <= COIL__LIGHT_BLOCK_BYTES,
               "a light task has no room for its block");

/*
 * Make the task the current one before control is transferred to it. Its caller becomes
 * `loop_coro`.
 */
static void set_current(struct coil__scheduler *scheduler, coil_task *task)
{
    task->coro.caller = scheduler->loop_coro;
    scheduler->budget = COIL__BUDGET;
    scheduler->current = task;
    *scheduler->errno_address = task->saved_errno;
    COIL__PROBE1(task_switch, task->coro.number);
}

static void begin(coil_task *task)
{
    task->step.run = coil__task_step;
    task->started = true;
}

/*
 * Run a task's step: switch from the loop's stack to the task's stack. Control returns
 * when a task waits and the next runnable is not a task's step, or when a task ends.
 * Tasks also switch directly to each other, so this need not be the task that was
 * entered: see next_in_turn().
 */
COIL__HOT void coil__task_step(struct coil__runnable *runnable)
{
    coil_task *task = COIL__CONTAINER(runnable, coil_task, step);
    struct coil__scheduler *scheduler = &coil__scheduler;
    void *result;

    if (COIL__UNLIKELY(task->future.loop->closing))
        return;
    scheduler->loop_coro = coil__coro_current();
    set_current(scheduler, task);
    result = coil__coro_transfer(task->leaf, NULL);
    task = scheduler->current;
    scheduler->current = NULL;
    if (task != NULL && task->coro.done) /* NULL: see end_in_place() */
        end_task(task, (int)(intptr_t)result);
}

/* End a task that was cancelled before its first step: its function is never called. */
void coil__task_end_unbegun(coil_task *task)
{
    end_task(task, -ECANCELED);
}

/*
 * The step function of a task that has not begun. With a separate function for the first
 * step, coil__task_step() need not test whether the task has begun.
 */
COIL__HOT void coil__task_first_step(struct coil__runnable *runnable)
{
    coil_task *task = COIL__CONTAINER(runnable, coil_task, step);

    if (COIL__UNLIKELY(task->future.loop->closing))
        return;
    if (COIL__UNLIKELY(task->must_cancel)) {
        coil__task_end_unbegun(task);
        return;
    }
    begin(task);
    coil__task_step(runnable);
}

void coil__task_prepare_frames(coil_task *task)
{
    if (COIL__LIKELY(task->hooks == NULL))
        coil__coro_enter_directly(&task->coro, task->fn, task->coro.arg,
                                  coil__task_body_returned);
    else
        coil__coro_prepare(&task->coro);
}

/*
 * Prepare a light task's stack just before its first step, so that until then the stack
 * occupies no page.
 */
void coil__task_begin(coil_task *task)
{
    coil__light_touch(&task->coro.stack);
    coil__task_prepare_frames(task);
    begin(task);
}

/*
 * With many tasks the memory that the next steps use is no longer in the caches, and
 * loading it takes longer than the switches. So prefetch this memory while other tasks
 * run: the top of the stack for the step after next (`first`), whose control block is
 * loaded by now, and the control block for the step after that. `first->next` may also be
 * the head of the batch, or a runnable that does not belong to a task, because the
 * address is only prefetched, never read.
 */
static void prefetch_steps(const coil_loop *loop, const struct coil__list *first,
                           bool traced)
{
    const struct coil__runnable *runnable =
        COIL__CONTAINER(first, const struct coil__runnable, link);
    const coil_task *behind;
    const char *sp;

    if (first == &loop->batch || runnable->run != coil__task_step)
        return;
    sp = COIL__CONTAINER(runnable, const coil_task, step)->coro.sp;
    COIL__PREFETCH(sp);
    COIL__PREFETCH(sp + 64);
    behind = COIL__CONTAINER(first->next, const coil_task, step.link);
    COIL__PREFETCH(&behind->step);
    COIL__PREFETCH(&behind->coro);
    if (traced)
        COIL__PREFETCH(&behind->coro.number);
}

/*
 * If the next runnable is a task's step, remove it from the queue and return the task;
 * otherwise return NULL. The caller switches to that task directly, which takes one
 * switch instead of two through the loop. If a task yields and its own step is next, this
 * function returns the task itself, and no switch is needed.
 */
static inline coil_task *next_in_turn(coil_loop *loop, bool traced)
{
    struct coil__list *queue = &loop->batch;
    struct coil__runnable *next;
    coil_task *task;

    if (coil__list_empty(queue)) {
        if (!coil__loop_may_skip_poll(loop))
            return NULL;
        queue = &loop->ready;
    }
    next = COIL__CONTAINER(queue->next, struct coil__runnable, link);
    task = COIL__CONTAINER(next, coil_task, step);
    if (next->run != coil__task_step &&
        (next->run != coil__task_first_step || task->must_cancel))
        return NULL;
    coil__list_remove(&next->link);
    if (queue == &loop->ready)
        coil__loop_begin_batch(loop);
    prefetch_steps(loop, loop->batch.next, traced);
    loop->runs_unpolled++;
    return task;
}

/* Abort if the task is in a region in which it must not wait. */
static COIL__NOINLINE void check_may_suspend(const coil_task *task)
{
    const struct coil__no_suspend *region = coil__no_suspend_of(task);
    char why[200];

    if (region != NULL)
        coil__misuse("task '%s' would wait (%s) where it must not: %s",
                     coil_task_name(task),
                     task->wait != NULL ? coil__wait_describe(task->wait).what : "yield",
                     coil__no_suspend_describe(region, why, sizeof why));
}

/*
 * Suspend the task and switch to the next one, or to the loop. Each switch is a tail
 * call, so the functions into which this function is inlined need not save registers, and
 * leave no frame on a waiting task's stack. `trace` is NULL if the loop is not traced;
 * `now` is the time for its record.
 */
static COIL__ALWAYS_INLINE void switch_out(coil_task *task, struct coil__trace *trace,
                                           uint64_t now)
{
    struct coil__scheduler *scheduler = &coil__scheduler;
    coil__coro *leaf = coil__coro_thread.running;
    coil_task *next;

    task->leaf = leaf;
    task->saved_errno = *scheduler->errno_address;
    task->steps++;
    if (COIL__UNLIKELY(scheduler->eager_return != NULL)) {
        coil__coro_transfer(scheduler->eager_return, NULL);
        return;
    }
    next = next_in_turn(task->future.loop, trace != NULL);
    if (next == NULL) {
        coil__coro_transfer(scheduler->loop_coro, NULL);
        return;
    }
    if (trace != NULL)
        coil__trace_put(trace, COIL__TRACE_SWITCH, now, next->coro.number, 0);
    set_current(scheduler, next);
    if (COIL__UNLIKELY(next->step.run == coil__task_first_step)) {
        begin(next);
        /* not coil__coro_transfer_alike(): the next task has never run */
        coil__coro_transfer(&next->coro, NULL);
    } else if (next->leaf != leaf) {
        coil__coro_transfer_alike(next->leaf);
    } else {
        coil__coro_stay();
    }
}

/* Switch out, calling the task's leave hooks before and its enter hooks afterwards. */
static COIL__NOINLINE void switch_out_between_hooks(coil_task *task)
{
    coil__hooks_leave(task);
    task->hooks->are_left = true;
    coil__task_switch_out(task);
    task->hooks->are_left = false;
    coil__hooks_enter(task);
}

/* The clock is read first: see docs/design/trace.md, "The clock". */
static COIL__NOINLINE void switch_out_recorded(coil_task *task)
{
    struct coil__trace *trace = coil__scheduler.trace;
    uint64_t now = trace != NULL ? coil__trace_time(trace) : 0;

    if (trace != NULL && task->wait != NULL)
        coil__trace_suspends(task);
    switch_out(task, trace, now);
}

/* Called if the loop is traced, a task has hooks, or a region forbids waiting. */
static COIL__NOINLINE void switch_out_with_care(coil_task *task)
{
    const struct coil__scheduler *scheduler = &coil__scheduler;

    if (scheduler->no_suspend.outer != NULL)
        check_may_suspend(task);
    if (scheduler->has_hooks && task->hooks != NULL && !task->hooks->are_left)
        switch_out_between_hooks(task);
    else
        switch_out_recorded(task);
}

COIL__HOT void coil__task_switch_out(coil_task *task)
{
    if (COIL__UNLIKELY(coil__scheduler.careful))
        switch_out_with_care(task);
    else
        switch_out(task, NULL, 0);
}

/*
 * True if ending the running task with this result calls no function of the program and
 * reports nothing.
 */
static bool ends_quietly(const coil_task *task, int rc)
{
    const struct coil__scheduler *scheduler = &coil__scheduler;

    return rc >= 0 && scheduler->current == task && scheduler->no_suspend.outer == NULL &&
           scheduler->eager_return == NULL &&
           ((uintptr_t)scheduler->trace | (uintptr_t)task->deferred |
            (uintptr_t)task->regions | (uintptr_t)task->context.own |
            (uintptr_t)task->context.entered | (uintptr_t)task->future.error |
            task->must_cancel) == 0 &&
           coil__coro_may_leave();
}

/*
 * End a task on its own stack. If the next runnable is a task's step, switch to that task
 * directly. finish_task() may free the slot of this stack while the code still runs on
 * it. Until the switch the freed stack can still be used: no other task takes the slot
 * before then, and the slab that contains the stack pointer is never unmapped.
 */
static inline void end_in_place(coil_task *task, int rc)
{
    struct coil__scheduler *scheduler = &coil__scheduler;
    coil_loop *loop = task->future.loop;
    coil_task *next;
    bool begun;

    scheduler->current = NULL;
    task->coro.done = true;
    finish_task(task, rc);
    next = next_in_turn(loop, false);
    if (next == NULL) {
        coil__coro_leave_for(scheduler->loop_coro, true);
        return;
    }
    set_current(scheduler, next);
    begun = next->step.run == coil__task_step;
    if (!begun)
        begin(next);
    coil__coro_leave_for(next->leaf, begun);
}

/* The function of a task that was entered directly, without hooks, returns here. */
COIL__HOT void coil__task_body_returned(int rc)
{
    coil_task *task = COIL__CONTAINER(coil__coro_thread.running, coil_task, coro);

    if (COIL__LIKELY(ends_quietly(task, rc))) {
        end_in_place(task, rc);
        return;
    }
    if (coil__scheduler.current != task || task->deferred != NULL)
        end_with_care(task);
    task->coro.done = true;
    coil__coro_suspend((void *)(intptr_t)rc);
}

/* ---- starting eagerly ------------------------------------------------------------ */

/* Record that the spawner is suspended, and store its `leaf`, which backtraces need. */
static void leave_by_eager_start(coil_task *spawner, coil__coro *leaf)
{
    spawner->leaf = leaf;
    spawner->steps++;
}

/*
 * Switch from the spawner's stack to the child's. Control returns at the child's first
 * wait or when the child ends. The spawner may be a callback, or a task that is itself
 * being started eagerly.
 */
void coil__task_start_eagerly(coil_task *task)
{
    struct coil__scheduler *scheduler = &coil__scheduler;
    coil_task *spawner = scheduler->current;
    coil__coro *outer_return = scheduler->eager_return;
    unsigned spawners_budget = scheduler->budget;
    int saved = errno;
    void *result;

    if (coil__stack_is_light(&task->coro.stack))
        coil__task_begin(task);
    if (spawner != NULL && spawner->hooks != NULL)
        coil__hooks_leave(spawner);
    scheduler->eager_return = task->coro.caller = coil__coro_current();
    if (spawner != NULL)
        leave_by_eager_start(spawner, scheduler->eager_return);
    scheduler->current = task;
    scheduler->budget = COIL__BUDGET;
    begin(task);
    COIL__PROBE1(task_switch, task->coro.number);
    if (COIL__UNLIKELY(scheduler->trace != NULL))
        coil__trace_put_now(scheduler->trace, COIL__TRACE_SWITCH, task->coro.number,
                            COIL__TRACE_STARTS);
    result = coil__coro_transfer(&task->coro, NULL);
    scheduler->current = spawner;
    scheduler->budget = spawners_budget;
    scheduler->eager_return = outer_return;
    if (spawner != NULL && spawner->hooks != NULL)
        coil__hooks_enter(spawner);
    if (task->coro.done)
        end_task(task, (int)(intptr_t)result);
    else if (COIL__UNLIKELY(coil__task_light_mode == COIL__LIGHT_ALWAYS))
        coil__task_swap_out_always(task);
    COIL__PROBE1(task_switch, spawner != NULL ? spawner->coro.number : 0);
    if (COIL__UNLIKELY(scheduler->trace != NULL))
        coil__trace_put_now(scheduler->trace, COIL__TRACE_SWITCH,
                            spawner != NULL ? spawner->coro.number : 0,
                            COIL__TRACE_RETURNS);
    errno = saved;
}

/* ---- references and members ------------------------------------------------------ */

coil_task *coil_task_retain(coil_task *task)
{
    COIL__REQUIRE(task, "a task");
    coil__future_check(&task->future, "coil_task_retain");
    coil__future_retain(&task->future);
    return task;
}

void coil_task_release(coil_task *task)
{
    if (task == NULL)
        return;
    coil__future_check(&task->future, "coil_task_release");
    coil__future_release(&task->future);
}

coil_future *coil_task_future(coil_task *task)
{
    COIL__REQUIRE(task, "a task");
    coil__future_check_gone(&task->future, "coil_task_future");
    return &task->future;
}

int coil_task_await(coil_task *task)
{
    COIL__REQUIRE(task, "a task");
    return coil_await(&task->future);
}

int coil_task_each(int (*visit)(coil_task *task, void *arg), void *arg)
{
    COIL__REQUIRE(visit, "a function");
    struct coil__no_suspend region;
    int rc = 0;

    if (coil__scheduler.hooked == NULL)
        return 0;
    coil__no_suspend_enter(&region, "coil_task_each() calls its visitor");
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        rc = coil__future_pending(&task->future) ? visit(task, arg) : 0;
        if (rc != 0)
            break;
    }
    coil__no_suspend_exit(&region);
    return rc;
}

const char *coil_task_name(const coil_task *task)
{
    COIL__REQUIRE(task, "a task");
    coil__future_check_gone(&task->future, "coil_task_name");
    return coil__name_text(&task->name);
}

ssize_t coil_task_stack_peak(const coil_task *task)
{
    COIL__REQUIRE(task, "a task");
    coil__future_check_gone(&task->future, "coil_task_stack_peak");
    return coil__stack_peak(&task->coro.stack);
}

void coil_task_stack(const coil_task *task, void **low, void **high)
{
    COIL__REQUIRE(task, "a task");
    COIL__REQUIRE(low, "an output pointer");
    COIL__REQUIRE(high, "an output pointer");
    coil__future_check_gone(&task->future, "coil_task_stack");
    *low = (void *)task->coro.stack.low;
    *high = (void *)task->coro.stack.high;
}

void coil_task_set_name(coil_task *task, const char *name)
{
    COIL__REQUIRE(task, "a task");
    COIL__REQUIRE(name, "a name");
    coil__future_check_gone(&task->future, "coil_task_set_name");
    coil__name_set(&task->name, name);
    if (COIL__UNLIKELY(coil__scheduler.trace != NULL) &&
        task->future.loop == coil__loop_of_thread)
        coil__trace_named(task);
}
