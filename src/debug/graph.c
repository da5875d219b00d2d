/*
 * graph.c - from one future outwards: who awaits it, and who awaits those.
 */
#include "print.h"

#include "../error/symbol.h"

#include <coil/debug.h>

struct graph {
    FILE *out;
    const void *from; /* the code that asked */
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

static int note_that_there_is_one(coil_task *awaiter, void *arg)
{
    (void)awaiter, (void)arg;
    return 1;
}

/* Where it stands, and who awaits it. */
static void print_details(struct graph *g, coil_future *future)
{
    int margin = 4 * g->depth + 2;
    char prefix[4 * COIL__PRINT_DEPTH + 16];

    if (future->is_task) {
        fprintf(g->out, "%*s+ Call stack:\n", margin, "");
        snprintf(prefix, sizeof prefix, "%*s|   ", margin, "");
        coil__print_stack(g->out, COIL__CONTAINER(future, coil_task, future), prefix,
                          g->from);
    }
    if (coil_future_awaiters(future, note_that_there_is_one, NULL) == 0)
        return;
    fprintf(g->out, "%*s+ Awaited by:\n", margin, "");
    if (g->depth == COIL__PRINT_DEPTH)
        fprintf(g->out, "%*s  ...\n", margin, "");
    else
        coil_future_awaiters(future, print_awaiter, g);
}

static void print_node(struct graph *g, coil_future *future)
{
    coil_task *task = future->is_task ? COIL__CONTAINER(future, coil_task, future) : NULL;
    bool seen = task != NULL && task->marks & COIL__MARK_PRINTED;

    fprintf(g->out, "%*s* ", 4 * g->depth, "");
    if (task == NULL)
        fprintf(g->out, "Future %p", (void *)future);
    else
        fprintf(g->out, "Task %s", task->name);
    fputs(seen ? " (see above)\n" : "\n", g->out);
    if (seen)
        return;
    if (task != NULL)
        task->marks |= COIL__MARK_PRINTED;
    print_details(g, future);
}

COIL__NOINLINE void coil_print_call_graph(coil_future *future, FILE *out)
{
    struct graph g = {.out = out, .from = COIL__CALLER()};

    if (future == NULL && coil__scheduler.current != NULL)
        future = &coil__scheduler.current->future;
    if (future == NULL || coil__scheduler.hooked == NULL)
        return;
    coil__clear_marks();
    coil__symbols_begin();
    print_node(&g, future);
    coil__symbols_end();
}
