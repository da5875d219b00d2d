/*
 * print.c - prints the state and the stack of one task.
 */
#include "print.h"

#include "../error/symbol.h"

#include <coil/debug.h>

#include <string.h>

#define MAX_FRAMES 64

void coil__clear_marks(void)
{
    COIL__LIST_EACH (link, &coil__scheduler.tasks)
        COIL__CONTAINER(link, coil_task, link)->marks &= COIL__TASK_DEBUGGED;
}

const void *coil_task_spawned_at(const coil_task *task)
{
    COIL__REQUIRE(task, "a task");
    coil__future_check_gone(&task->future, "coil_task_spawned_at");
    return task->spawned_at;
}

/* ---- the state --------------------------------------------------------------------- */

static double to_seconds(int64_t span_ns)
{
    return (double)span_ns / (double)COIL_SEC(1);
}

static void print_future(struct coil__report *report, const coil_waiting *w)
{
    if (w->future->is_task)
        coil__report_value(report, "awaits", " %s",
                           coil_task_name(COIL__CONTAINER(w->future, coil_task, future)));
    else
        coil__report_value(report, "future", " %p", (void *)w->future);
}

static void print_wait(struct coil__report *report, const coil_waiting *w)
{
    int64_t now = coil_now();

    coil__report_value(report, "seconds", "waits %.1f s", to_seconds(now - w->since));
    coil__report_value(report, "waits", ": %s", w->what);
    if (w->future != NULL)
        print_future(report, w);
    if (w->object != NULL)
        coil__report_value(report, "object", " %p", w->object);
    if (w->fd >= 0)
        coil__report_value(report, "descriptor", " of descriptor %d", w->fd);
    if (w->deadline != COIL_NEVER)
        coil__report_value(report, "seconds_to_go", ", %.1f s to go",
                           to_seconds(w->deadline > now ? w->deadline - now : 0));
}

/* True if the task is not running, because it is waiting or in the ready queue. */
static bool is_suspended(const coil_task *task)
{
    return task->wait != NULL || !coil__list_empty(&task->step.link);
}

void coil__print_state(struct coil__report *report, const coil_task *task)
{
    coil_waiting w;

    if (coil_task_waiting(task, &w))
        print_wait(report, &w);
    else if (!coil__future_pending(&task->future))
        coil__report_value(report, "state", "has ended");
    else if (!task->started) /* + 1, because the symbol look-up subtracts 1 */
        coil__symbol_print(report, "body", "has not begun: %s",
                           (const char *)task->fn + 1);
    else if (is_suspended(task))
        coil__report_value(report, "state", "is ready");
    else if (task == coil__scheduler.current)
        coil__report_value(report, "state", "runs");
    else
        coil__report_value(report, "state", "has started another");
}

/* ---- the stack --------------------------------------------------------------------- */

void coil__print_stack(struct coil__report *report, coil_task *task, const char *margin,
                       const void *from)
{
    void *addresses[MAX_FRAMES];
    int n = coil__task_backtrace(task, addresses, MAX_FRAMES, from);

    if (n < 0)
        coil__report_words(report, "%s(no stack to be seen: %s)\n", margin, strerror(-n));
    else if (n > 0 && is_suspended(task))
        coil__symbol_print_waiting(report, margin, addresses, (size_t)n);
    else if (n > 0)
        coil__symbol_print_stack(report, margin, addresses, (size_t)n);
}
