/*
 * scheduler.c - the tasks of one loop: the calls that the loop and the contexts make into
 * this layer.
 *
 * The first spawn on a loop attaches the scheduler to the loop. The loop then calls the
 * scheduler to find out which task a step belongs to, and on a deadlock, after a fork,
 * and when the loop closes.
 */
#include "scheduler.h"

#include "above.h"
#include "away.h"
#include "block.h"
#include "failure.h"

#include "../loop/leak.h"

void (*_Atomic coil__dump)(FILE *out);

/* ---- the loop closes --------------------------------------------------------------- */

/*
 * Report each task that still waits when the loop closes. These tasks can no longer be
 * resumed, and are never killed. Everything that their frames own is lost.
 */
static void report_pending(coil_loop *loop)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&coil__scheduler.tasks)) != NULL) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        coil__leak_forget(&task->future); /* the next line reports it */
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
    (void)loop;
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
                   runnable->run == coil__task_rouse
               ? COIL__CONTAINER(runnable, const coil_task, step)
               : NULL;
}

static const void *spawned_at(const coil_task *task)
{
    return task->spawned_at;
}

/* ---- a deadlock -------------------------------------------------------------------- */

/* The default handler prints one line. A dump of all tasks follows. */
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

/* ---- a fork ------------------------------------------------------------------------ */

/* After fork(2) the child process has no tasks. If it was forked in a task, it keeps that
   task's context. */
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
    scheduler->spawned = 0;
    loop->light_tasks |= coil__task_light_mode != COIL__LIGHT_CHOSEN;
    scheduler->no_suspend.outer = NULL;
    scheduler->has_hooks = scheduler->careful = false;
    scheduler->current = NULL; /* after a fork these two are still the parent's */
    scheduler->eager_return = NULL;
}
