/*
 * graph.c - prints which tasks await a future, which tasks await these tasks, and so on.
 */
#include "print.h"

#include "../error/symbol.h"

#include <coil/debug.h>

struct graph {
    struct coil__report report;
    const void *from; /* the address in the program at which the graph was requested */
    int depth;
};

static void print_node(struct graph *g, coil_future *future);

static int print_awaiter(coil_task *awaiter, void *arg)
{
    struct graph *g = arg;

    g->depth++;
    print_node(g, &awaiter->future);
    g->depth--;
    return 0;
}

static int accept_any_awaiter(coil_task *awaiter, void *arg)
{
    (void)awaiter, (void)arg;
    return 1;
}

/*
 * If the future is a task, print its stack. Then print the tasks that await the future.
 */
static void print_details(struct graph *g, coil_future *future)
{
    int margin = 4 * g->depth + 2;
    struct coil__report *report = &g->report;
    char prefix[4 * COIL__PRINT_DEPTH + 16];

    if (future->is_task) {
        coil__report_words(report, "%*s+ Call stack:\n", margin, "");
        snprintf(prefix, sizeof prefix, "%*s|   ", margin, "");
        coil__print_stack(report, COIL__CONTAINER(future, coil_task, future), prefix,
                          g->from);
    }
    if (coil_future_awaiters(future, accept_any_awaiter, NULL) == 0)
        return;
    coil__report_words(report, "%*s+ Awaited by:\n", margin, "");
    coil__report_open(report, "awaited_by", '[');
    if (g->depth == COIL__PRINT_DEPTH)
        coil__report_words(report, "%*s  ...\n", margin, "");
    else
        coil_future_awaiters(future, print_awaiter, g);
    coil__report_close(report, ']');
}

static void print_node(struct graph *g, coil_future *future)
{
    coil_task *task = future->is_task ? COIL__CONTAINER(future, coil_task, future) : NULL;
    bool seen = task != NULL && task->marks & COIL__MARK_PRINTED;

    coil__report_open(&g->report, NULL, '{');
    coil__report_words(&g->report, "%*s* ", 4 * g->depth, "");
    if (task == NULL)
        coil__report_value(&g->report, "future", "Future %p", (void *)future);
    else
        coil__report_value(&g->report, "task", "Task %s", coil_task_name(task));
    coil__report_words(&g->report, seen ? " (see above)\n" : "\n");
    if (task != NULL)
        task->marks |= COIL__MARK_PRINTED;
    if (!seen)
        print_details(g, future);
    coil__report_close(&g->report, '}');
}

COIL__NOINLINE void coil_print_call_graph(coil_future *future, FILE *out)
{
    COIL__REQUIRE(out, "a file");
    struct graph g = {.from = COIL__CALLER()};
    struct coil__no_suspend region; /* `out` may call user code: fopencookie(3) */

    if (future == NULL && coil__scheduler.current != NULL)
        future = &coil__scheduler.current->future;
    if (future == NULL || coil__scheduler.hooked == NULL)
        return;
    coil__no_suspend_enter(&region, "coil_print_call_graph() prints");
    coil__clear_marks();
    coil__report_begin(&g.report, out, "call_graph");
    coil__report_open(&g.report, "graph", '[');
    print_node(&g, future);
    coil__report_close(&g.report, ']');
    coil__report_end(&g.report);
    coil__no_suspend_exit(&region);
}
