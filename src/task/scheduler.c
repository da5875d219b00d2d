/*
 * scheduler.c - attaches tasks to a loop: the functions through which the loop and the
 * contexts call the task layer.
 *
 * The first spawn on a loop attaches the scheduler to the loop. From then on, the loop
 * calls the scheduler to find out which task a runnable belongs to. The loop also calls
 * it when there is a deadlock, after a fork, and when the loop closes.
 */
#include "scheduler.h"

#include "dump_hook.h"
#include "light_task.h"
#include "block.h"
#include "failure.h"
#include "trace_task.h"
#include "trim.h"

#include "../coro/outside.h"
#include "../loop/leak.h"

void (*_Atomic coil__dump)(FILE *out);

/* ---- for tools outside ------------------------------------------------------------- */

/* The bit of `started` in the byte before coil_task.marks. */
enum { STARTED = 1 };

COIL__OUTSIDE(
    COIL__OUTSIDE_AT(COIL__AT_SCHEDULER_CURRENT, struct coil__scheduler, current),
    COIL__OUTSIDE_AT(COIL__AT_SCHEDULER_TASKS, struct coil__scheduler, tasks),
    COIL__OUTSIDE_SIZE(COIL__TASK_BYTES, coil_task),
    COIL__OUTSIDE_AT(COIL__AT_TASK_CORO, coil_task, coro),
    COIL__OUTSIDE_AT(COIL__AT_TASK_FN, coil_task, fn),
    COIL__OUTSIDE_AT(COIL__AT_TASK_LINK, coil_task, link),
    COIL__OUTSIDE_AT(COIL__AT_TASK_STEP_LINK, coil_task, step.link),
    COIL__OUTSIDE_AT(COIL__AT_TASK_LEAF, coil_task, leaf),
    COIL__OUTSIDE_AT(COIL__AT_TASK_WAIT, coil_task, wait),
    COIL__OUTSIDE_VALUE(COIL__AT_TASK_FLAGS, offsetof(coil_task, marks) - 1),
    COIL__OUTSIDE_VALUE(COIL__TASK_IS_STARTED, STARTED),
    COIL__OUTSIDE_AT(COIL__AT_TASK_STEPS, coil_task, steps),
    COIL__OUTSIDE_AT(COIL__AT_TASK_FUTURE, coil_task, future),
    COIL__OUTSIDE_AT(COIL__AT_TASK_NAME, coil_task, name),
    COIL__OUTSIDE_AT(COIL__AT_TASK_SPAWNED_AT, coil_task, spawned_at),
    COIL__OUTSIDE_AT(COIL__AT_TASK_SPAWNED_BY, coil_task, spawned_by),
    COIL__OUTSIDE_AT(COIL__AT_TASK_REGIONS, coil_task, regions),
    COIL__OUTSIDE_AT(COIL__AT_TASK_GROUP_LINK, coil_task, group_link),
    COIL__OUTSIDE_AT(COIL__AT_TASK_CANCELLING, coil_task, cancelling),
    COIL__OUTSIDE_AT(COIL__AT_FUTURE_RC, coil_future, rc),
    COIL__OUTSIDE_SIZE(COIL__NAME_BYTES_IN_PLACE, struct coil__name),
    COIL__OUTSIDE_VALUE(COIL__NAME_IS_SHARED, COIL__NAME_SHARED),
    COIL__OUTSIDE_VALUE(COIL__NAME_IS_NUMBER, COIL__NAME_NUMBER),
    COIL__OUTSIDE_AT(COIL__AT_NAME_SHARED, struct coil__name, shared),
    COIL__OUTSIDE_AT(COIL__AT_NAME_SHARED_TEXT, struct coil__long_name, text),
    COIL__OUTSIDE_AT(COIL__AT_NAME_NUMBER, struct coil__name, tail),
    COIL__OUTSIDE_AT(COIL__AT_WAIT_CLASS, struct coil__wait, class),
    COIL__OUTSIDE_AT(COIL__AT_WAIT_SINCE, struct coil__wait, since),
    COIL__OUTSIDE_AT(COIL__AT_WAIT_SOURCE, struct coil__wait, source),
    COIL__OUTSIDE_AT(COIL__AT_WAIT_DONE, struct coil__wait, done),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_WHAT, struct coil__wait_class, what),
    COIL__OUTSIDE_SIZE(COIL__CLASS_BYTES, struct coil__wait_class),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_WHAT_PATH, struct coil__wait_class, what_at),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_OBJECT, struct coil__wait_class, object),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_FD, struct coil__wait_class, fd),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_DEADLINE, struct coil__wait_class, deadline),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_TIMER, struct coil__wait_class, timer),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_JOB, struct coil__wait_class, job),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_FUTURES_KIND, struct coil__wait_class, futures.kind),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_FUTURES_FIRST, struct coil__wait_class,
                     futures.first),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_FUTURES_COUNT, struct coil__wait_class,
                     futures.count),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_FUTURES_ITEM_BYTES, struct coil__wait_class,
                     futures.item_bytes),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_FUTURES_POINTER, struct coil__wait_class,
                     futures.pointer),
    COIL__OUTSIDE_AT(COIL__AT_CLASS_FUTURES_FUTURE, struct coil__wait_class,
                     futures.future),
    COIL__OUTSIDE_VALUE(COIL__FUTURES_ARE_ONE, COIL__WAIT_ONE),
    COIL__OUTSIDE_VALUE(COIL__FUTURES_ARE_ARRAY, COIL__WAIT_ARRAY),
    COIL__OUTSIDE_VALUE(COIL__FUTURES_ARE_LIST, COIL__WAIT_LIST),
    COIL__OUTSIDE_VALUE(COIL__FUTURES_ARE_CHILDREN, COIL__WAIT_CHILDREN),
    COIL__OUTSIDE_AT(COIL__AT_PATH_OFFSETS, struct coil__wait_path, at),
    COIL__OUTSIDE_AT(COIL__AT_TIMER_PLACE, struct coil__timer, place),
    COIL__OUTSIDE_AT(COIL__AT_LOOP_TIMERS, coil_loop, timers.entries),
    COIL__OUTSIDE_AT(COIL__AT_LOOP_TIMER_COUNT, coil_loop, timers.count),
    COIL__OUTSIDE_SIZE(COIL__TIMER_ENTRY_BYTES, struct coil__timer_entry),
    COIL__OUTSIDE_AT(COIL__AT_TIMER_ENTRY_WHEN, struct coil__timer_entry, when),
    COIL__OUTSIDE_AT(COIL__AT_REGION_OUTER, struct coil__region, outer),
    COIL__OUTSIDE_VALUE(COIL__AT_REGION_KIND,
                        offsetof(struct coil__region, depth) + sizeof(unsigned)),
    COIL__OUTSIDE_VALUE(COIL__REGION_IS_GROUP, COIL__GROUP));

/* ---- closing the loop -------------------------------------------------------------- */

/*
 * Report each task that is still waiting when the loop closes. Such a task is never
 * resumed, and its stack is not unwound, so all resources that its frames own are lost.
 */
static void report_pending(coil_loop *loop)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&coil__scheduler.tasks)) != NULL) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        coil__leak_forget(&task->future); /* the next call reports the task */
        coil__failure_report("Task was destroyed but it is pending!", task, 0);
        coil__list_remove(&task->step.link);
        if (!task->started) {
            coil__context_slot_finish(&task->context);
            coil_task_release(task);
        }
    }
    coil__failure_loop_closes();
    coil__blocks_destroy_kept();
    coil__scheduler.hooked = NULL;
    coil__scheduler.trace = NULL;
    loop->scheduler = NULL;
}

/* ---- the loop's queries about tasks ------------------------------------------------ */

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
    return runnable->run == coil__task_step || runnable->run == coil__task_first_step ||
                   runnable->run == coil__task_light_step
               ? COIL__CONTAINER(runnable, const coil_task, step)
               : NULL;
}

static const void *spawned_at(const coil_task *task)
{
    return task->spawned_at;
}

/* ---- a deadlock -------------------------------------------------------------------- */

/*
 * Report the deadlock. The default exception handler prints only one line, so if it is
 * set, dump all tasks after that line.
 */
static bool report_deadlock(coil_loop *loop)
{
    void (*dump)(FILE *) = atomic_load(&coil__dump);
    const char *message = "Deadlock: all tasks wait, and nothing can wake them";
    char place[128], text[320];

    if (coil__scheduler.hooked != loop || coil__list_empty(&coil__scheduler.tasks))
        return false;
    if (coil__loop_place_of_lock(loop, place, sizeof place)) {
        snprintf(
            text, sizeof text,
            "Deadlock: all tasks wait, the first for a lock%s that only a task could "
            "release: see Futexes in docs/manual/posix.md",
            place);
        message = text;
    }
    coil_call_exception_handler(&(coil_exception){.message = message, .rc = -EDEADLK});
    if (coil__exception_is_default(&loop->exception) && dump != NULL)
        dump(stderr);
    return true;
}

/* ---- a fork ------------------------------------------------------------------------ */

/*
 * Called after fork(2) in the child process, where the parent's tasks do not exist. If a
 * task called fork(2), the child keeps that task's context.
 */
static void leave_tasks_to_parent(void)
{
    struct coil__scheduler *scheduler = &coil__scheduler;

    if (scheduler->current != NULL)
        coil__context_ambient = &scheduler->current->context;
    scheduler->current = NULL;
    scheduler->eager_return = NULL;
    scheduler->no_suspend.outer = NULL;
    scheduler->trace = NULL;
    scheduler->hooked = NULL;
}

/* ---- contexts ---------------------------------------------------------------------- */

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

/* ---- attaching --------------------------------------------------------------------- */

void coil__scheduler_attach_slowly(coil_loop *loop)
{
    static const struct coil__task_layer layer = {.name = coil_task_name,
                                                  .context = context_of,
                                                  .exchange_current = exchange_current,
                                                  .stepping = stepping,
                                                  .spawned_at = spawned_at,
                                                  .stuck = report_deadlock,
                                                  .number = coil__trace_number,
                                                  .traced = coil__trace_tasks,
                                                  .each = coil__trace_each_task,
                                                  .trim = coil__task_trim_stacks,
                                                  .forked = leave_tasks_to_parent};
    static const struct coil__context_tasks contexts = {
        .slot = find_context, .call_unsuspended = call_of_variable};
    struct coil__scheduler *scheduler = &coil__scheduler;

    coil__list_init(&scheduler->tasks);
    coil__task_layer = &layer;
    coil__failure_set_up();
    scheduler->close_hook.closing = report_pending;
    coil__loop_add_close_hook(loop, &scheduler->close_hook);
    coil__context_set_tasks(&contexts);
    scheduler->hooked = loop;
    loop->scheduler = scheduler;
    scheduler->spawned = 0;
    scheduler->errno_address = &errno;
    coil__task_trim_set_up(loop);
    loop->light_tasks |= coil__task_light_mode != COIL__LIGHT_CHOSEN;
    scheduler->no_suspend.outer = NULL;
    scheduler->has_hooks = false;
    scheduler->trace = loop->trace;
    scheduler->careful = coil__scheduler_is_careful();
    /* in a forked child, these two still have the parent's values */
    scheduler->current = NULL;
    scheduler->eager_return = NULL;
}
