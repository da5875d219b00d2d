/*
 * dump.c - all tasks as a tree.
 *
 * Below a task stand the children of its groups and the tasks it awaits, each where it is
 * met first. What nobody awaits is at the top; then what is left, which is deeper than
 * is printed at once, or awaits each other in a circle. Each task is visited twice, each
 * edge thrice, and the depth of the walk is bounded: a chain of a million is cut into
 * pieces.
 */
#include "print.h"

#include "../error/symbol.h"
#include "../task/above.h"

#include <coil/debug.h>

struct dump {
    FILE *out;
    const void *from; /* the code that asked */
    int depth;
};

static void each_in_group(const struct coil__region *region,
                          void (*visit)(coil_task *, void *), void *arg)
{
    coil_task *child = NULL;

    while ((child = coil__group_next_child(region, child)) != NULL)
        visit(child, arg);
}

/* Call visit(child, arg) for the children of the task's groups, and whom it awaits. */
static void each_child(coil_task *task, void (*visit)(coil_task *, void *), void *arg)
{
    const struct coil__wait *wait = coil__task_waits(task);
    coil_future *future;

    for (struct coil__region *r = task->regions; r != NULL; r = r->outer)
        each_in_group(r, visit, arg);
    if (wait != NULL && coil__group_waited(wait) != NULL)
        each_in_group(coil__group_waited(wait), visit, arg);
    if (wait == NULL || wait->class->future == NULL)
        return;
    for (size_t i = 0; (future = wait->class->future(wait, i)) != NULL; i++)
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
    char prefix[2 * COIL__PRINT_DEPTH + 8];

    if (task->marks & COIL__MARK_PRINTED || d->depth == COIL__PRINT_DEPTH)
        return;
    task->marks |= COIL__MARK_PRINTED;
    fprintf(d->out, "%*s- %s ", 2 * d->depth, "", task->name);
    coil__print_state(d->out, task);
    putc('\n', d->out);
    snprintf(prefix, sizeof prefix, "%*s", 2 * d->depth + 6, "");
    coil__print_stack(d->out, task, prefix, d->from);
    if (task->spawned_at != NULL) {
        fprintf(d->out, "%*sspawned by ", 2 * d->depth + 4, "");
        coil__symbol_print(d->out, task->spawned_at);
        putc('\n', d->out);
    }
    d->depth++;
    each_child(task, print_task, d);
    d->depth--;
}

/* Those without any of `but_marked`, which are then at the top. */
static void print_tasks(struct dump *d, unsigned but_marked)
{
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        if ((task->marks & but_marked) == 0)
            print_task(task, d);
    }
}

static size_t count_and_mark(void)
{
    size_t n = 0;

    coil__clear_marks();
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        each_child(COIL__CONTAINER(link, coil_task, link), mark_awaited, NULL);
        n++;
    }
    return n;
}

static void print_all(FILE *out, const void *from)
{
    struct dump d = {.out = out, .from = from};
    size_t n = coil__scheduler.hooked != NULL ? count_and_mark() : 0;

    fprintf(out, "coil: %zu task%s\n", n, n == 1 ? "" : "s");
    if (n == 0)
        return;
    coil__symbols_begin();
    print_tasks(&d, COIL__MARK_AWAITED);
    print_tasks(&d, COIL__MARK_PRINTED);
    coil__symbols_end();
    fflush(out);
}

COIL__NOINLINE void coil_dump(FILE *out)
{
    print_all(out, COIL__CALLER());
}

COIL__NOINLINE void coil__dump(FILE *out)
{
    print_all(out, COIL__CALLER());
}
