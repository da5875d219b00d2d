/*
 * task.c - a coroutine driven by the loop, and the future of its result.
 *
 * A task is the control block on top of its own stack: one mapping, one page while it
 * waits, nothing on the heap. Where it stands between two steps is wait.c's; here it is
 * created, stepped, cancelled and brought to its end.
 *
 * Invariants
 * 1. `step` is in one list exactly while the task has begun to wait and not gone on: the
 *    ready queue, or the callbacks of the future it awaits. So a task runs once per
 * cause.
 * 2. The loop holds a reference until the body has returned; the frames above it are then
 *    trimmed, and the block itself goes with the last reference.
 * 3. Control enters a task only from step(), or the first time from start_eagerly(), and
 *    leaves it only through switch_out() or the end of its body. A generator inside a
 *    task may be what is left: `leaf`.
 */
#include "above.h"
#include "task.h"
#include "budget.h"
#include "failure.h"

#include <string.h>

COIL__THREAD_LOCAL struct coil__scheduler coil__scheduler;

coil_task *coil_task_current(void)
{
    return coil__scheduler.current;
}

void coil__task_missing(const char *caller)
{
    coil__misuse("%s: no task is running here, so nothing can be suspended "
                 "(a callback, or code outside coil_run)",
                 caller);
}

/* ---- the end ----------------------------------------------------------------------- */

static void leave_scheduler(coil_task *task)
{
    coil__list_remove(&task->link);
    if (coil__scheduler.stop_when_empty && coil__list_empty(&coil__scheduler.tasks))
        coil_loop_stop(task->future.loop);
}

static void end(coil_task *task, int rc)
{
    if (task->regions != NULL)
        coil__misuse("task '%s' has ended with a %s open", task->name,
                     task->regions->kind);
    if (coil__scheduler.no_suspend != NULL && coil__scheduler.no_suspend->task == task)
        coil__misuse("task '%s' has ended in a region where it must not wait: %s",
                     task->name, coil__scheduler.no_suspend->why);
    if (rc >= 0 && task->must_cancel)
        rc = -ECANCELED; /* cancelled just before it stopped */
    else if (rc == -EINPROGRESS)
        coil__misuse("task '%s' returned -EINPROGRESS, which is no result", task->name);
    task->must_cancel = false;
    if (COIL__LIKELY(rc >= 0 || rc == -ECANCELED)) /* else a report is made in it */
        coil__context_slot_finish(&task->context);
    if (COIL__UNLIKELY(task->future.error != NULL))
        coil__failure_settle(&task->future, rc);
    coil__stack_trim(&task->coro.stack);
    leave_scheduler(task);
    coil__future_complete(&task->future, rc);
    coil_task_release(task);
}

/* ---- steps ------------------------------------------------------------------------- */

static void *task_main(void *arg)
{
    coil_task *task = arg;
    int rc = task->fn(task->arg);

    if (COIL__UNLIKELY(task->deferred != NULL))
        coil__task_run_deferred(task);
    return (void *)(intptr_t)rc;
}

static void step(struct coil__runnable *runnable);

/* What a task needs to be transferred to; `loop_coro` is where it comes back to. */
static void set_current(struct coil__scheduler *scheduler, coil_task *task)
{
    task->started = true;
    task->budget = COIL__BUDGET;
    task->coro.caller = scheduler->loop_coro;
    scheduler->current = task;
    errno = task->saved_errno;
}

/*
 * The loop's stack is left here for a task's, and comes back when a task that is the last
 * of a row waits, or one ends: not always the one that was entered. See switch_out().
 */
static void step(struct coil__runnable *runnable)
{
    coil_task *task = COIL__CONTAINER(runnable, coil_task, step);
    struct coil__scheduler *scheduler = &coil__scheduler;
    void *result;

    if (COIL__UNLIKELY(task->future.loop->closing))
        return;
    if (COIL__UNLIKELY(!task->started && task->must_cancel)) {
        end(task, -ECANCELED); /* cancelled before the first step: the body never runs */
        return;
    }
    scheduler->loop_coro = coil__coro_current();
    set_current(scheduler, task);
    result = coil__coro_transfer(task->leaf, NULL);
    task = scheduler->current;
    scheduler->current = NULL;
    if (task->coro.done)
        end(task, (int)(intptr_t)result);
}

/*
 * With many tasks what the next steps need is long out of the caches, and to wait for it
 * costs more than the switches. Have it fetched while others run: of the step after next
 * (`first`) what was parked with it, now that its control block is there; and the control
 * block of the one behind that. The head of the batch is taken for a task here, and so is
 * what is none; but nothing is read of a task that is not one.
 */
static void prefetch_steps(const coil_loop *loop, const struct coil__list *first)
{
    const struct coil__runnable *runnable =
        COIL__CONTAINER(first, const struct coil__runnable, link);
    const coil_task *behind;
    const char *sp;

    if (first == &loop->batch || runnable->run != step)
        return;
    sp = COIL__CONTAINER(runnable, const coil_task, step)->coro.sp;
    COIL__PREFETCH(sp);
    COIL__PREFETCH(sp + 64);
    behind = COIL__CONTAINER(first->next, const coil_task, step.link);
    COIL__PREFETCH(&behind->step);
    COIL__PREFETCH(&behind->coro);
}

/*
 * If what comes next is the step of another task, there is nothing for the loop to do
 * between: go from stack to stack, one switch instead of two, and for a task that only
 * yields to itself none at all.
 */
static coil_task *next_in_turn(coil_loop *loop)
{
    struct coil__runnable *next;
    coil_task *task;

    if (coil__list_empty(&loop->batch) && !coil__loop_begin_unpolled_turn(loop))
        return NULL;
    next = COIL__CONTAINER(loop->batch.next, struct coil__runnable, link);
    task = COIL__CONTAINER(next, coil_task, step);
    if (next->run != step || (!task->started && task->must_cancel))
        return NULL;
    coil__list_remove(&next->link);
    prefetch_steps(loop, loop->batch.next);
    loop->runs_unpolled++;
    return task;
}

/* Leave `task` where it stands, for the next one or for the loop. */
static void leave_for(struct coil__scheduler *scheduler, coil_task *next)
{
    if (next == NULL) {
        coil__coro_transfer(scheduler->loop_coro, NULL);
        return;
    }
    set_current(scheduler, next);
    if (next->leaf != coil__coro_current())
        coil__coro_transfer_alike(next->leaf);
}

/* What runs is a region in which the task must not wait, or a task that it has started.
 */
static COIL__NOINLINE void check_may_suspend(const coil_task *task)
{
    const struct coil__no_suspend *region = coil__scheduler.no_suspend;

    while (region != NULL && region->task != task)
        region = region->outer;
    if (region != NULL)
        coil__misuse("task '%s' would wait (%s) where it must not: %s", task->name,
                     task->wait != NULL ? task->wait->class->what : "yield", region->why);
}

/* The switch comes last: so no frame of ours lies on the stack of who waits. */
void coil__task_switch_out(coil_task *task)
{
    struct coil__scheduler *scheduler = &coil__scheduler;

    if (COIL__UNLIKELY(scheduler->no_suspend != NULL))
        check_may_suspend(task);
    task->leaf = coil__coro_current();
    task->saved_errno = errno;
    if (COIL__UNLIKELY(scheduler->eager_return != NULL))
        coil__coro_transfer(scheduler->eager_return, NULL);
    else
        leave_for(scheduler, next_in_turn(task->future.loop));
}

/* ---- the beginning ----------------------------------------------------------------- */

/*
 * The loop closes with tasks that still wait. They cannot be resumed any more and are
 * never killed: their frames are lost with what they own, and that is said.
 */
static void report_pending(coil_loop *loop)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&coil__scheduler.tasks)) != NULL) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        coil__failure_report("Task was destroyed but it is pending!", task, 0);
        coil__list_remove(&task->step.link);
        if (!task->started) {
            coil__context_slot_finish(&task->context);
            coil_task_release(task);
        }
    }
    coil__scheduler.hooked = NULL;
    (void)loop;
}

static struct coil__context_slot *find_context(void)
{
    coil_task *task = coil__scheduler.current;

    return task != NULL ? &task->context : NULL;
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
    return runnable->run == step ? COIL__CONTAINER(runnable, const coil_task, step)
                                 : NULL;
}

static const void *spawned_at(const coil_task *task)
{
    return task->spawned_at;
}

/* The default handler has not room for all of them: they follow its report. */
static bool report_deadlock(coil_loop *loop)
{
    if (coil__scheduler.hooked != loop || coil__list_empty(&coil__scheduler.tasks))
        return false;
    coil_call_exception_handler(
        &(coil_exception){.message = "Deadlock: all tasks wait, for nothing that could "
                                     "still happen",
                          .rc = -EDEADLK});
    if (loop->exception_handler == NULL)
        coil__dump(stderr);
    return true;
}

static void hook_scheduler(coil_loop *loop)
{
    static const struct coil__task_layer layer = {.name = coil_task_name,
                                                  .context = context_of,
                                                  .exchange_current = exchange_current,
                                                  .stepping = stepping,
                                                  .spawned_at = spawned_at,
                                                  .stuck = report_deadlock};
    struct coil__scheduler *scheduler = &coil__scheduler;

    if (COIL__LIKELY(scheduler->hooked == loop))
        return;
    coil__list_init(&scheduler->tasks);
    coil__task_layer = &layer;
    scheduler->close_hook.closing = report_pending;
    coil__loop_add_close_hook(loop, &scheduler->close_hook);
    coil__context_set_finder(find_context);
    memset(scheduler->next_name, 0, sizeof scheduler->next_name);
    strcpy(scheduler->next_name, "task-1");
    scheduler->next_name_bytes = strlen("task-1");
    scheduler->hooked = loop;
    scheduler->spawned = 0;
    scheduler->no_suspend = NULL;
    scheduler->current = NULL; /* after a fork: the parent's; and so below */
    scheduler->eager_return = NULL;
}

/* "task-9" becomes "task-10". */
static void count_on(struct coil__scheduler *scheduler)
{
    char *digit = scheduler->next_name + scheduler->next_name_bytes - 1;

    while (*digit == '9')
        *digit-- = '0';
    if (*digit != '-') {
        ++*digit;
        return;
    }
    digit[1] = '1';
    scheduler->next_name[scheduler->next_name_bytes++] = '0';
}

/* The number is counted as text: dividing it would be a tenth of a spawn. */
static void give_name(char *name, const char *given)
{
    if (given != NULL)
        strncpy(name, given, COIL__NAME_BYTES - 1); /* the block was zeroed */
    else
        memcpy(name, coil__scheduler.next_name, COIL__NAME_BYTES);
    count_on(&coil__scheduler);
}

int coil__task_create(coil_task_fn fn, void *arg, const coil_spawn_opts *opts,
                      coil_task **out)
{
    static const coil_spawn_opts defaults;
    coil_loop *loop = coil__loop_require("coil_spawn");
    coil__coro *coro;
    coil_task *task;
    int rc;

    if (opts == NULL)
        opts = &defaults;
    if (opts->arg_bytes > COIL__ARG_BYTES_MAX)
        return -EINVAL;
    hook_scheduler(loop);
    rc = coil__coro_create(sizeof *task, opts->stack_bytes, task_main, NULL, &coro);
    if (rc < 0)
        return rc;
    task = COIL__CONTAINER(coro, coil_task, coro);
    task->coro.arg = task;
    task->coro.label = task->name;
    task->leaf = &task->coro;
    task->budget = COIL__BUDGET;
    task->fn = fn;
    task->arg = arg;
    if (opts->arg_bytes > 0) {
        task->arg = coil__coro_reserve(&task->coro, opts->arg_bytes);
        memcpy(task->arg, arg, opts->arg_bytes);
    }
    coil__future_init(&task->future, loop, true);
    coil__runnable_init(&task->step, step);
    give_name(task->name, opts->name);
    coil__scheduler.spawned++;
    if (opts->context != NULL)
        task->context.entered = coil_context_retain(opts->context);
    else
        task->context.own = coil__context_capture();
    coil__list_push(&coil__scheduler.tasks, &task->link);
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
    int saved = errno;
    void *result;

    scheduler->eager_return = task->coro.caller = coil__coro_current();
    if (spawner != NULL)
        spawner->leaf = scheduler->eager_return; /* for whoever looks at it */
    scheduler->current = task;
    task->started = true;
    result = coil__coro_transfer(&task->coro, NULL);
    scheduler->current = spawner;
    scheduler->eager_return = outer_return;
    if (task->coro.done)
        end(task, (int)(intptr_t)result);
    errno = saved;
}

void coil__task_start(coil_task *task, bool eagerly)
{
    if (COIL__UNLIKELY(eagerly && task->future.loop->running))
        start_eagerly(task);
    else
        coil__loop_add_ready(task->future.loop, &task->step);
}

COIL__NOINLINE int coil_spawn(coil_task_fn fn, void *arg, const coil_spawn_opts *opts,
                              coil_task **out)
{
    coil_task *task;
    int rc = coil__task_create(fn, arg, opts, &task);

    if (rc < 0)
        return rc;
    task->spawned_at = COIL__CALLER();
    if (out != NULL)
        *out = coil_task_retain(task);
    coil__task_start(task, opts != NULL && opts->eager);
    return 0;
}

/* ---- as an object ------------------------------------------------------------------ */

coil_task *coil_task_retain(coil_task *task)
{
    coil_future_retain(&task->future);
    return task;
}

void coil_task_release(coil_task *task)
{
    if (task != NULL)
        coil_future_release(&task->future);
}

coil_future *coil_task_future(coil_task *task)
{
    return &task->future;
}

int coil_task_await(coil_task *task)
{
    return coil_await(&task->future);
}

int coil_task_each(int (*visit)(coil_task *task, void *arg), void *arg)
{
    int rc = 0;

    if (coil__scheduler.hooked == NULL)
        return 0;
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        rc = visit(COIL__CONTAINER(link, coil_task, link), arg);
        if (rc != 0)
            break;
    }
    return rc;
}

const char *coil_task_name(const coil_task *task)
{
    return task->name;
}

void coil_task_set_name(coil_task *task, const char *name)
{
    memset(task->name, 0, sizeof task->name);
    strncpy(task->name, name, sizeof task->name - 1);
}
