/*
 * dump.c - prints all tasks as a tree.
 *
 * A task is printed below its parent, which is the first task found that has it in a
 * group or awaits it. First the tasks without a parent are printed, each with the tasks
 * below it, up to the depth COIL__PRINT_DEPTH. The remaining tasks follow: those that are
 * deeper, and those that await each other in a cycle. So a chain of a million tasks is
 * printed in pieces. The time is proportional to the number of tasks and of edges between
 * them.
 */
#include "print.h"

#include "../error/symbol.h"
#include "../task/dump_hook.h"
#include "../task/light_task.h"

#include <coil/debug.h>

struct dump {
    struct coil__report report;
    const void *from; /* the address in the program at which the dump was requested */
    int depth;
};

static void each_in_group(const struct coil__region *region,
                          void (*visit)(coil_task *, void *), void *arg)
{
    coil_task *child = NULL;

    while ((child = coil__group_next_child(region, child)) != NULL)
        visit(child, arg);
}

/*
 * Call visit(child, arg) for each task in a group of this task, and for each task that
 * this task awaits.
 */
static void each_child(coil_task *task, void (*visit)(coil_task *, void *), void *arg)
{
    const struct coil__wait *wait = coil__task_waits(task);
    coil_future *future;
    bool was_swapped_out = task->regions != NULL && coil__task_swap_in(task);

    for (struct coil__region *r = task->regions; r != NULL; r = r->outer)
        each_in_group(r, visit, arg);
    if (was_swapped_out)
        coil__task_swap_out(task);
    if (wait != NULL && coil__group_waited(wait) != NULL)
        each_in_group(coil__group_waited(wait), visit, arg);
    if (wait == NULL)
        return;
    for (size_t i = 0; (future = coil__wait_future(wait, i)) != NULL; i++)
        if (future->is_task && coil__future_pending(future))
            visit(COIL__CONTAINER(future, coil_task, future), arg);
}

static void mark_awaited(coil_task *task, void *arg)
{
    (void)arg;
    task->marks |= COIL__MARK_AWAITED;
}

static void print_task(coil_task *task, void *arg)
{
    struct dump *d = arg;
    struct coil__report *report = &d->report;
    char margin[2 * COIL__PRINT_DEPTH + 8];

    if (task->marks & COIL__MARK_PRINTED || d->depth == COIL__PRINT_DEPTH)
        return;
    task->marks |= COIL__MARK_PRINTED;
    snprintf(margin, sizeof margin, "%*s", 2 * d->depth + 6, "");
    coil__report_open(report, NULL, '{');
    coil__report_words(report, "%.*s- ", 2 * d->depth, margin);
    coil__report_value(report, "name", "%s ", coil_task_name(task));
    coil__print_state(report, task);
    coil__report_words(report, "\n");
    coil__print_stack(report, task, margin, d->from);
    if (task->spawned_at != NULL)
        coil__report_words(report, "%.*s", 2 * d->depth + 4, margin);
    coil__symbol_print(report, "spawned_by", "spawned by %s\n", task->spawned_at);
    d->depth++;
    coil__report_open(report, "tasks", '[');
    each_child(task, print_task, d);
    coil__report_close(report, ']');
    d->depth--;
    coil__report_close(report, '}');
}

/*
 * Print the pending tasks that have none of the marks `but_marked`, each with the tasks
 * below it.
 */
static void print_tasks(struct dump *d, unsigned but_marked)
{
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        if (coil__future_pending(&task->future) && (task->marks & but_marked) == 0)
            print_task(task, d);
    }
}

static size_t count_and_mark(void)
{
    size_t n = 0;

    coil__clear_marks();
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        each_child(task, mark_awaited, NULL);
        n += coil__future_pending(&task->future);
    }
    return n;
}

static void print_all(FILE *out, const void *from)
{
    struct dump d = {.from = from};
    size_t n = coil__scheduler.hooked != NULL ? count_and_mark() : 0;

    coil__report_begin(&d.report, out, "tasks");
    coil__report_value(&d.report, "count", "coil: %zu task", n);
    coil__report_words(&d.report, "%s\n", n == 1 ? "" : "s");
    coil__report_open(&d.report, "tasks", '[');
    if (n > 0) {
        print_tasks(&d, COIL__MARK_AWAITED);
        print_tasks(&d, COIL__MARK_PRINTED);
    }
    coil__report_close(&d.report, ']');
    coil__report_end(&d.report);
    fflush(out);
}

COIL__NOINLINE void coil_dump(FILE *out)
{
    COIL__REQUIRE(out, "a file");
    struct coil__no_suspend region; /* `out` may call user code: fopencookie(3) */

    coil__no_suspend_enter(&region, "coil_dump() prints");
    print_all(out, COIL__CALLER());
    coil__no_suspend_exit(&region);
}

static COIL__NOINLINE void dump_for_tasks(FILE *out)
{
    print_all(out, COIL__CALLER());
}

__attribute__((constructor)) static void offer_dump(void)
{
    atomic_store(&coil__dump, dump_for_tasks);
}
