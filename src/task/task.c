/*
 * task.c - tasks: coroutines that the loop steps, each with a future for its result.
 *
 * A task is the control block on top of its own stack: one mapping, one page while it
 * waits, nothing on the heap. This file creates tasks, steps them, and ends them; wait.c
 * is about the time between two steps.
 *
 * Invariants
 * 1. From the beginning of a wait until the task is resumed, `step` is in one list: the
 *    ready queue, or the callbacks of the future it awaits. So a task runs once for
 *    each cause.
 * 2. The loop holds a reference until the body has returned. Then the pages below the
 *    block are trimmed; the block itself is freed with the last reference.
 * 3. Control enters a task only from step(), or the first time from start_eagerly(), and
 *    leaves it only through switch_out() or the end of its body. If that happens inside a
 *    generator, `leaf` is the generator's coroutine.
 */
#include "above.h"
#include "task.h"
#include "away.h"
#include "budget.h"
#include "failure.h"
#include "hooks.h"

#include "../coro/light.h"
#include "../coro/switch.h"
#include "../loop/leak.h"

#include <stdlib.h>
#include <string.h>

COIL__THREAD_LOCAL struct coil__scheduler coil__scheduler;
void (*_Atomic coil__dump)(FILE *out);

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

/* ---- the end ----------------------------------------------------------------------- */

/* A leftover stays in the list until the run lets go of it, so that the order is kept. */
static void leave_scheduler(coil_task *task)
{
    if (COIL__LIKELY(!task->leftover))
        coil__list_remove(&task->link);
    else if (--coil__scheduler.leftover_count == 0)
        coil_loop_stop(task->future.loop);
}

/* Check that the task has closed all scopes, groups and no_suspend regions. */
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

/* What every end does. */
static inline void finish_task(coil_task *task, int rc)
{
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
        rc = -ECANCELED; /* cancelled just before it stopped */
    else if (rc == -EINPROGRESS)
        coil__misuse("task '%s' returned -EINPROGRESS, which is no result",
                     coil_task_name(task));
    task->must_cancel = false;
    if (COIL__LIKELY(rc >= 0 || rc == -ECANCELED)) /* else a report is made in it */
        coil__context_slot_finish(&task->context);
    if (COIL__UNLIKELY(task->future.error != NULL))
        coil__failure_settle(&task->future, rc);
    finish_task(task, rc);
}

/* ---- steps ------------------------------------------------------------------------- */

/* The body has returned. */
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

static const struct coil__coro_class task_class = {.main = task_main,
                                                   .label = label_task};
static const struct coil__coro_class light_class = {
    .main = task_main, .label = label_task, .light = true};

_Static_assert(sizeof(coil_task) <= COIL__STACK_APART_BYTES, "it may lie apart");

static void first_step(struct coil__runnable *runnable);
static void body_returned(int rc);

/* Prepare for a transfer to `task`, which returns to `loop_coro`. */
static void set_current(struct coil__scheduler *scheduler, coil_task *task)
{
    task->coro.caller = scheduler->loop_coro;
    scheduler->budget = COIL__BUDGET;
    scheduler->current = task;
    errno = task->saved_errno;
}

static void begin(coil_task *task)
{
    task->step.run = coil__task_step;
    task->started = true;
}

/*
 * The loop's stack is left here for a task's, and comes back when a task that is the last
 * of a row waits, or one ends: not always the one that was entered. See switch_out().
 */
void coil__task_step(struct coil__runnable *runnable)
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

/* It was cancelled: the body never runs. */
void coil__task_end_unbegun(coil_task *task)
{
    end_task(task, -ECANCELED);
}

/* A task that has not begun has this for its step: so the others test nothing. */
static void first_step(struct coil__runnable *runnable)
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

static void prepare_frames(coil_task *task)
{
    if (COIL__LIKELY(task->hooks == NULL))
        coil__coro_enter_directly(&task->coro, task->fn, task->coro.arg, body_returned);
    else
        coil__coro_prepare(&task->coro);
}

/* Its first frames are written now, so that it has no page before. */
void coil__task_begin(coil_task *task)
{
    coil__light_touch(&task->coro.stack);
    prepare_frames(task);
    begin(task);
}

/*
 * With many tasks the memory of the next steps is no longer in the caches, and loading it
 * takes longer than the switches. So prefetch it while others run: for the step after next
 * (`first`), whose control block is loaded by now, the top of its stack; and the control
 * block of the step after that. The cast of `first->next` is unchecked, it may be the head
 * of the batch or no task's: the address is only prefetched, never read.
 */
static void prefetch_steps(const coil_loop *loop, const struct coil__list *first)
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
}

/*
 * If the next runnable is another task's step, the loop need not run in between: switch
 * from stack to stack directly, one switch instead of two. If it is the same task's, which
 * has yielded, no switch is needed.
 */
static inline coil_task *next_in_turn(coil_loop *loop)
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
    if (next->run != coil__task_step && (next->run != first_step || task->must_cancel))
        return NULL;
    coil__list_remove(&next->link);
    if (queue == &loop->ready)
        coil__loop_begin_batch(loop);
    prefetch_steps(loop, loop->batch.next);
    loop->runs_unpolled++;
    return task;
}

/* What runs is a region in which the task must not wait, or a task that it has started.
 */
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
 * Some task of the thread has hooks, or must not wait. With hooks it is left from here:
 * then this is called once more, inside, to go the common way.
 */
static COIL__NOINLINE bool switch_out_with_care(coil_task *task)
{
    check_may_suspend(task);
    if (task->hooks == NULL || task->hooks->are_left)
        return false;
    coil__hooks_leave(task);
    task->hooks->are_left = true;
    coil__task_switch_out(task);
    task->hooks->are_left = false;
    coil__hooks_enter(task);
    return true;
}

/* The switch is a tail call: so no frame of this function lies on a waiting task's stack. */
void coil__task_switch_out(coil_task *task)
{
    struct coil__scheduler *scheduler = &coil__scheduler;
    coil_task *next;

    if (COIL__UNLIKELY(scheduler->careful) && switch_out_with_care(task))
        return;
    task->leaf = coil__coro_current();
    task->saved_errno = errno;
    if (COIL__UNLIKELY(scheduler->eager_return != NULL)) {
        coil__coro_transfer(scheduler->eager_return, NULL);
        return;
    }
    next = next_in_turn(task->future.loop);
    if (next == NULL) {
        coil__coro_transfer(scheduler->loop_coro, NULL);
        return;
    }
    set_current(scheduler, next);
    if (COIL__UNLIKELY(next->step.run == first_step)) {
        begin(next);
        coil__coro_transfer(&next->coro, NULL); /* it was never left: nothing is alike */
    } else if (next->leaf != coil__coro_current()) {
        coil__coro_transfer_alike(next->leaf);
    } else {
        coil__coro_stay();
    }
}

/*
 * Does the end of the running task, with this result, call none of the program's functions,
 * and stop for nothing?
 */
static bool ends_quietly(const coil_task *task, int rc)
{
    const struct coil__scheduler *scheduler = &coil__scheduler;

    return rc >= 0 && scheduler->current == task && scheduler->no_suspend.outer == NULL &&
           scheduler->eager_return == NULL &&
           ((uintptr_t)task->deferred | (uintptr_t)task->regions |
            (uintptr_t)task->context.own | (uintptr_t)task->context.entered |
            (uintptr_t)task->future.error | task->must_cancel) == 0 &&
           coil__coro_may_leave();
}

/*
 * The task ends on its own stack, and the next runnable is continued from there, if it is
 * a task's step: the same as after a wait. The slot may be free by then, but nobody takes
 * it before the stack is left, and no slab is unmapped that the stack pointer is in.
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
    next = next_in_turn(loop);
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

/* Where a body returns to that was entered directly: it has no hooks. */
static void body_returned(int rc)
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

/* ---- the beginning ----------------------------------------------------------------- */

/*
 * In debug mode a slot is not used again for a while: so a call on a task that is gone
 * finds the count of references, which is 0. Each thread has its own.
 */
#define KEPT_MAX 64

/* From malloc(3), see coil/base.h; NULL as long as none was kept. */
static COIL__THREAD_LOCAL struct kept {
    size_t next;
    coil_task *tasks[KEPT_MAX];
} * kept;

static void destroy_kept_tasks(void)
{
    for (size_t i = 0; kept != NULL && i < KEPT_MAX; i++)
        if (kept->tasks[i] != NULL)
            coil__coro_destroy(&kept->tasks[i]->coro);
    free(kept);
    kept = NULL;
}

/*
 * The loop closes while tasks still wait. They cannot be resumed any more and are never
 * killed: their frames are lost with all they own. That is reported.
 */
static void report_pending(coil_loop *loop)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&coil__scheduler.tasks)) != NULL) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        coil__leak_forget(&task->future); /* it is named here */
        coil__failure_report("Task was destroyed but it is pending!", task, 0);
        coil__list_remove(&task->step.link);
        if (!task->started) {
            coil__context_slot_finish(&task->context);
            coil_task_release(task);
        }
    }
    coil__failure_loop_closes();
    destroy_kept_tasks();
    coil__scheduler.hooked = NULL;
    (void)loop;
}

static struct coil__context_slot *find_context(void)
{
    coil_task *task = coil__scheduler.current;

    return task != NULL ? &task->context : NULL;
}

static void call_of_variable(void (*fn)(void *arg), void *arg)
{
    struct coil__no_suspend region;

    coil__no_suspend_enter(&region, "a coil_var's retain or release is called");
    fn(arg);
    coil__no_suspend_exit(&region);
}

static struct coil__context_slot *context_of(coil_task *task)
{
    return &task->context;
}

static coil_task *exchange_current(coil_task *task)
{
    coil_task *current = coil__scheduler.current;

    coil__scheduler.current = task;
    return current;
}

static const coil_task *stepping(const struct coil__runnable *runnable)
{
    return runnable->run == coil__task_step || runnable->run == first_step ||
                   runnable->run == coil__task_rouse
               ? COIL__CONTAINER(runnable, const coil_task, step)
               : NULL;
}

static const void *spawned_at(const coil_task *task)
{
    return task->spawned_at;
}

/* The default handler prints one sentence. The tasks follow it. */
static bool report_deadlock(coil_loop *loop)
{
    void (*dump)(FILE *) = atomic_load(&coil__dump);

    if (coil__scheduler.hooked != loop || coil__list_empty(&coil__scheduler.tasks))
        return false;
    coil_call_exception_handler(
        &(coil_exception){.message = "Deadlock: all tasks wait, for nothing that could "
                                     "still happen",
                          .rc = -EDEADLK});
    if (coil__exception_is_default(&loop->exception) && dump != NULL)
        dump(stderr);
    return true;
}

/* After fork(2) the child runs in one of the parent's tasks, or in none: it keeps the
   context. */
static void leave_tasks_to_parent(void)
{
    struct coil__scheduler *scheduler = &coil__scheduler;

    if (scheduler->current != NULL)
        coil__context_ambient = &scheduler->current->context;
    scheduler->current = NULL;
    scheduler->eager_return = NULL;
    scheduler->no_suspend.outer = NULL;
    scheduler->hooked = NULL;
}

static void hook_scheduler(coil_loop *loop)
{
    static const struct coil__task_layer layer = {.name = coil_task_name,
                                                  .context = context_of,
                                                  .exchange_current = exchange_current,
                                                  .stepping = stepping,
                                                  .spawned_at = spawned_at,
                                                  .stuck = report_deadlock,
                                                  .forked = leave_tasks_to_parent};
    static const struct coil__context_tasks contexts = {
        .slot = find_context, .call_unsuspended = call_of_variable};
    struct coil__scheduler *scheduler = &coil__scheduler;

    if (COIL__LIKELY(scheduler->hooked == loop))
        return;
    coil__list_init(&scheduler->tasks);
    coil__task_layer = &layer;
    coil__failure_set_up();
    scheduler->close_hook.closing = report_pending;
    coil__loop_add_close_hook(loop, &scheduler->close_hook);
    coil__context_set_tasks(&contexts);
    scheduler->hooked = loop;
    scheduler->spawned = 0;
    loop->light_tasks |= coil__task_light_mode != COIL__LIGHT_CHOSEN;
    scheduler->no_suspend.outer = NULL;
    scheduler->has_hooks = scheduler->careful = false;
    scheduler->current = NULL; /* after a fork: the parent's; and so below */
    scheduler->eager_return = NULL;
}

/* The spawner's, unless told otherwise, as with the context. */
static const coil_task_hooks *const *hooks_for(const coil_spawn_opts *opts)
{
    const coil_task *spawner = coil__scheduler.current;

    if (opts->hooks != NULL)
        return opts->hooks;
    return spawner != NULL && spawner->hooks != NULL ? spawner->hooks->hooks : NULL;
}

/* ---- control blocks ---------------------------------------------------------------- */

/*
 * A task leaves most of its control block as a new task needs it: lists empty, pointers
 * NULL. So a block that comes back with its stack is not written again, but for what the
 * first lines here write; and the rare tasks that leave more are marked, by taking the
 * class from the coroutine.
 */
static void init_block(coil_task *task, coil_loop *loop)
{
    task->coro.caller = NULL;
    task->coro.done = false;
    task->leaf = &task->coro;
    task->step.run = first_step;
    task->saved_errno = 0;
    task->started = task->must_cancel = task->passed_on = task->delivered = false;
    task->future.loop = loop;
    task->future.loop_number = loop->number;
    task->future.refs = 1;
    task->future.rc = -EINPROGRESS;
    task->future.is_task = true;
    task->future.unseen = task->future.quiet = task->future.error_is_older = false;
    task->hold_cancel = task->borrowed = task->starting = task->ready = false;
    task->leftover = false;
    task->earlier_callbacks = 0;
}

static COIL__NOINLINE void write_block(coil_task *task,
                                       const struct coil__coro_class *class)
{
    memset(&task->coro.stack + 1, 0, offsetof(coil_task, room) - sizeof task->coro.stack);
    task->coro.class = class;
    coil__list_init(&task->step.link);
    coil__list_init(&task->future.callbacks);
}

/* Bits instead of branches: hardly ever is one set. */
static inline bool leaves_more(const coil_task *task)
{
    return ((uintptr_t)task->asked_at | (uintptr_t)task->hooks |
            (uintptr_t)task->deferred | (uintptr_t)task->future.error |
            (uintptr_t)task->future.cancel_reason | task->cancelling | task->held |
            task->marks) != 0;
}

static COIL__NOINLINE void leave_no_block(coil_task *task)
{
    if (task->future.error != NULL)
        coil_error_release(task->future.error);
    coil__name_finish(&task->asked_by);
    task->coro.class = NULL;
}

/* Returns the task to be destroyed now, if any. */
static coil_task *keep_in_debug_mode(coil_task *task)
{
    coil_task **place, *oldest;

    if ((task->marks & COIL__TASK_DEBUGGED) == 0 || !coil__loop_is_debugged() ||
        coil__loop_of_thread->closing)
        return task;
    if (kept == NULL && (kept = calloc(1, sizeof *kept)) == NULL)
        return task;
    place = &kept->tasks[kept->next++ % KEPT_MAX];
    oldest = *place;
    *place = task;
    return oldest;
}

static COIL__NOINLINE void free_with_care(coil_task *task)
{
    leave_no_block(task);
    task = keep_in_debug_mode(task);
    if (task != NULL)
        coil__coro_destroy(&task->coro);
}

void coil__task_free(coil_task *task)
{
    if (COIL__UNLIKELY(task->future.rc < 0))
        coil__context_slot_finish(&task->context); /* it was kept for a report */
    coil__name_finish(&task->name);
    task->group = NULL;
    if (COIL__UNLIKELY(leaves_more(task)))
        free_with_care(task);
    else
        coil__coro_destroy(&task->coro);
}

#if COIL__ASAN || !defined __OPTIMIZE__
/* Compare a block that was left with one that is written whole. What differs may. */
static void check_block(coil_task *task, coil_loop *loop)
{
    static COIL__THREAD_LOCAL coil_task left;

    left = *task;
    write_block(task, left.coro.class);
    init_block(task, loop);
    left.coro.sp = NULL;
    left.coro.arg = NULL;
    left.fn = NULL;
    left.link = left.group_link = (struct coil__list){NULL, NULL};
    left.name = (struct coil__name){.text = ""};
    left.spawned_at = left.outermost = NULL;
    left.outermost_kind = 0;
    for (size_t i = sizeof left.coro.stack; i < offsetof(coil_task, room); i++)
        if (((const char *)&left)[i] != ((const char *)task)[i])
            coil__misuse(
                "a task has left byte %zu of its block as no other task needs it", i);
}
#else
static void check_block(coil_task *task, coil_loop *loop)
{
    (void)task, (void)loop;
}
#endif

static COIL__NOINLINE bool can_be_light(void)
{
    coil__light_tasks_set_up();
    return coil__light_off() == NULL;
}

/* Where stacks cannot be put away, a light task is an ordinary one. */
static inline bool is_light(const coil_loop *loop, const coil_spawn_opts *opts)
{
    enum coil_light light = opts != NULL ? opts->light : COIL_LIGHT_AS_RUN;

    if (COIL__LIKELY(light == COIL_LIGHT_AS_RUN && !loop->light_tasks))
        return false;
    return light != COIL_NOT_LIGHT && can_be_light();
}

static inline int take_block(const coil_spawn_opts *opts, coil_loop *loop,
                             coil_task **out)
{
    const struct coil__coro_class *class =
        COIL__UNLIKELY(is_light(loop, opts)) ? &light_class : &task_class;
    size_t stack_bytes = opts != NULL ? opts->stack_bytes : 0;
    coil__coro *coro;
    coil_task *task;
    int rc = coil__coro_take(sizeof *task, stack_bytes, class, &coro);

    if (COIL__UNLIKELY(rc < 0))
        return rc;
    task = COIL__CONTAINER(coro, coil_task, coro);
    if (COIL__UNLIKELY(coro->class != class)) {
        write_block(task, class);
        init_block(task, loop);
    } else {
        init_block(task, loop);
        check_block(task, loop);
    }
    *out = task;
    return 0;
}

/* ---- spawning ---------------------------------------------------------------------- */

static inline void enlist(coil_task *task)
{
    coil__list_push(&coil__scheduler.tasks, &task->link);
    coil__scheduler.spawned++;
}

/* Without options, hooks, contexts, sanitizers, debug mode, and any need for memory: the
   way of nearly every task. NULL: it must take the long one. */
static inline coil_task *create_plainly(coil_task_fn fn, void *arg)
{
    struct coil__scheduler *scheduler = &coil__scheduler;
    coil_loop *loop = coil__loop_of_thread;
    struct coil__stack *stack = coil__stack_slab->free;
    coil_task *task = COIL__CONTAINER(stack, coil_task, coro.stack);

    if (COIL__UNLIKELY(stack == NULL || task->coro.class != &task_class || loop == NULL ||
                       scheduler->hooked != loop || loop->debug || scheduler->has_hooks ||
                       loop->light_tasks || coil__context_is_used() ||
                       !coil__timers_have_room(&loop->timers)))
        return NULL;
    coil__stack_acquire_usual();
    loop->timers.reserved++;
    init_block(task, loop);
    check_block(task, loop);
    task->fn = fn;
    task->coro.arg = arg;
    task->coro.sp = coil__switch_prepare(stack->high, fn, arg, body_returned);
    coil__name_set_number(&task->name, scheduler->spawned + 1);
    enlist(task);
    return task;
}

/* What `opts`, or the spawner, asks for beyond the usual. */
static COIL__NOINLINE int apply_opts(coil_task *task, const coil_spawn_opts *opts)
{
    const coil_task_hooks *const *hooks = hooks_for(opts);
    int rc;

    if (hooks != NULL && (rc = coil__hooks_set(task, hooks)) < 0)
        return rc;
    task->hold_cancel = opts->hold_cancel;
    if (opts->arg_bytes > 0) {
        void *arg = coil__coro_reserve(&task->coro, opts->arg_bytes);

        memcpy(arg, task->coro.arg, opts->arg_bytes);
        task->coro.arg = arg;
    }
    if (opts->context != NULL)
        task->context.entered = coil_context_retain(opts->context);
    if (opts->name != NULL)
        coil__name_set(&task->name, opts->name);
    return 0;
}

static COIL__NOINLINE int create_with_care(coil_task_fn fn, void *arg,
                                           const coil_spawn_opts *opts, coil_task **out)
{
    static const coil_spawn_opts defaults;
    coil_loop *loop = coil__loop_require("coil_spawn");
    struct coil__scheduler *scheduler = &coil__scheduler;
    coil_task *task;
    int rc;

    if (COIL__UNLIKELY(loop->debug)) /* always, it would be 1 % of a spawn */
        coil__loop_check_stack("coil_spawn");
    if (opts != NULL && opts->arg_bytes > COIL__ARG_BYTES_MAX)
        return coil__failed(-EINVAL);
    hook_scheduler(loop);
    rc = coil__timer_reserve(&loop->timers); /* for its waits, which cannot fail then */
    if (COIL__UNLIKELY(rc < 0))
        return rc;
    rc = take_block(opts, loop, &task);
    if (COIL__UNLIKELY(rc < 0)) {
        coil__timer_unreserve(&loop->timers);
        return coil__failed(rc);
    }
    if (COIL__UNLIKELY(loop->debug))
        task->marks |= COIL__TASK_DEBUGGED;
    task->fn = fn;
    task->coro.arg = arg;
    coil__name_set_number(&task->name, scheduler->spawned + 1);
    if (COIL__UNLIKELY(opts != NULL || scheduler->has_hooks)) {
        rc = apply_opts(task, opts != NULL ? opts : &defaults);
        if (COIL__UNLIKELY(rc < 0)) {
            coil__timer_unreserve(&loop->timers);
            task->coro.class = NULL;
            coil__coro_destroy(&task->coro);
            return rc;
        }
    }
    if (COIL__LIKELY(!coil__stack_apart(&task->coro.stack)))
        prepare_frames(task);
    else
        task->step.run = coil__task_rouse;
    if (COIL__LIKELY(task->context.entered == NULL))
        task->context.own = coil__context_capture();
    enlist(task);
    *out = task;
    return 0;
}

COIL__NO_CANARY int coil__task_create(coil_task_fn fn, void *arg,
                                      const coil_spawn_opts *opts, coil_task **out)
{
    coil_task *task = opts == NULL ? create_plainly(fn, arg) : NULL;

    if (COIL__UNLIKELY(task == NULL))
        return create_with_care(fn, arg, opts, out);
    *out = task;
    return 0;
}

/*
 * From the spawner's stack to the child's, and back at its first wait or its end. The
 * spawner may be a callback, or itself a task that is being started so.
 */
static void start_eagerly(coil_task *task)
{
    struct coil__scheduler *scheduler = &coil__scheduler;
    coil_task *spawner = scheduler->current;
    coil__coro *outer_return = scheduler->eager_return;
    unsigned spawners_budget = scheduler->budget;
    int saved = errno;
    void *result;

    if (coil__stack_apart(&task->coro.stack))
        coil__task_begin(task);
    if (spawner != NULL && spawner->hooks != NULL)
        coil__hooks_leave(spawner);
    scheduler->eager_return = task->coro.caller = coil__coro_current();
    if (spawner != NULL)
        spawner->leaf = scheduler->eager_return; /* for backtraces of the spawner */
    scheduler->current = task;
    scheduler->budget = COIL__BUDGET;
    begin(task);
    result = coil__coro_transfer(&task->coro, NULL);
    scheduler->current = spawner;
    scheduler->budget = spawners_budget;
    scheduler->eager_return = outer_return;
    if (spawner != NULL && spawner->hooks != NULL)
        coil__hooks_enter(spawner);
    if (task->coro.done)
        end_task(task, (int)(intptr_t)result);
    else if (COIL__UNLIKELY(coil__task_light_mode == COIL__LIGHT_ALWAYS))
        coil__task_stays_away(task);
    errno = saved;
}

void coil__task_start(coil_task *task, bool eagerly)
{
    if (COIL__UNLIKELY(eagerly && task->future.loop->running))
        start_eagerly(task);
    else
        coil__loop_add_ready(task->future.loop, &task->step);
}

COIL__NO_CANARY COIL__NOINLINE int
coil_spawn(coil_task_fn fn, void *arg, const coil_spawn_opts *opts, coil_task **out)
{
    COIL__REQUIRE(fn, "a function");
    static const struct coil__leak_kind kind = {"a task", NULL, "released"};
    coil_task *task;
    int rc = coil__task_create(fn, arg, opts, &task);

    if (COIL__UNLIKELY(rc < 0)) {
        if (out != NULL)
            *out = NULL;
        return rc;
    }
    task->spawned_at = COIL__CALLER();
    if (out != NULL) {
        if (COIL__UNLIKELY(task->future.loop->debug))
            coil__leak_add(&kind, &task->future, 0, coil_task_name(task));
        coil__future_retain(&task->future);
        *out = task;
    }
    coil__task_start(task, opts != NULL && opts->eager);
    return 0;
}

/* ---- as an object ------------------------------------------------------------------ */

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

void coil_task_set_name(coil_task *task, const char *name)
{
    COIL__REQUIRE(task, "a task");
    COIL__REQUIRE(name, "a name");
    coil__future_check_gone(&task->future, "coil_task_set_name");
    coil__name_set(&task->name, name);
}
