/*
 * print.c - one task in words.
 */
#include "print.h"

#include "../error/symbol.h"

#include <coil/debug.h>

#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES 64

void coil__clear_marks(void)
{
    COIL__LIST_EACH (link, &coil__scheduler.tasks)
        COIL__CONTAINER(link, coil_task, link)->marks = 0;
}

const void *coil_task_spawned_at(const coil_task *task)
{
    return task->spawned_at;
}

/* ---- the state ----------------------------------------------------------------------
 */

static double seconds(int64_t span_ns)
{
    return (double)span_ns / (double)COIL_SEC(1);
}

static void print_future(FILE *out, const coil_waiting *w)
{
    if (w->future->is_task)
        fprintf(out, " %s",
                coil_task_name(COIL__CONTAINER(w->future, coil_task, future)));
    else
        fprintf(out, " %p", (void *)w->future);
}

static void print_wait(FILE *out, const coil_waiting *w)
{
    int64_t now = coil_now();

    fprintf(out, "waits %.1f s: %s", seconds(now - w->since), w->what);
    if (w->future != NULL)
        print_future(out, w);
    if (w->object != NULL)
        fprintf(out, " %p", w->object);
    if (w->fd >= 0)
        fprintf(out, " of descriptor %d", w->fd);
    if (w->deadline != COIL_NEVER)
        fprintf(out, ", %.1f s to go", seconds(w->deadline - now));
}

/* It waits, or is ready to go on. */
static bool stands_still(const coil_task *task)
{
    return task->wait != NULL || !coil__list_empty(&task->step.link);
}

/* It begins with its first byte; what is printed as a symbol is returned to. */
static void print_new(FILE *out, const coil_task *task)
{
    fputs("has not begun: ", out);
    coil__symbol_print(out, (const char *)task->fn + 1);
}

void coil__print_state(FILE *out, const coil_task *task)
{
    coil_waiting w;

    if (coil_task_waiting(task, &w))
        print_wait(out, &w);
    else if (!coil__future_pending(&task->future))
        fputs("has ended", out);
    else if (!task->started)
        print_new(out, task);
    else if (stands_still(task))
        fputs("is ready", out);
    else if (task == coil__scheduler.current)
        fputs("runs", out);
    else
        fputs("has started another", out);
}

/* ---- the stack ----------------------------------------------------------------------
 */

/* What was printed with its own margin is given ours. */
static void print_lines(FILE *out, const char *text, const char *prefix)
{
    while (*text != '\0') {
        const char *end = strchrnul(text, '\n');

        text += strspn(text, " ");
        fprintf(out, "%s%.*s\n", prefix, (int)(end - text), text);
        text = *end == '\n' ? end + 1 : end;
    }
}

void coil__print_stack(FILE *out, coil_task *task, const char *prefix, const void *from)
{
    void *addresses[MAX_FRAMES];
    char *text = NULL;
    size_t bytes;
    FILE *lines;
    int n = coil__task_backtrace(task, addresses, MAX_FRAMES, from);

    if (n < 0)
        fprintf(out, "%s(no stack to be seen: %s)\n", prefix, strerror(-n));
    if (n <= 0)
        return;
    lines = open_memstream(&text, &bytes);
    if (lines != NULL) {
        if (stands_still(task))
            coil__symbol_print_waiting(lines, addresses, (size_t)n);
        else
            coil__symbol_print_stack(lines, addresses, (size_t)n);
        fclose(lines);
        print_lines(out, text, prefix);
    }
    free(text);
}
