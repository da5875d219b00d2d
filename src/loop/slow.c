/*
 * slow.c - debug mode: what keeps the loop from turning is named.
 *
 * Each thing of a batch is run by itself, from a list of our own: so a task that waits
 * finds the batch empty, must poll for the next turn, and comes back here, instead of
 * going on to the next task. What ran may be gone afterwards; so it is asked before for
 * its name, and where it came from. The clock is the real one, virtual or not.
 */
#include "loop.h"

#include "../error/symbol.h"

void coil__loop_set_debug(coil_loop *loop, bool on)
{
    loop->debug = on;
    coil__loop_choose_turns(loop);
}

static double seconds(int64_t span_ns)
{
    return (double)span_ns / (double)COIL_SEC(1);
}

/* What runs, as far as it can be known before. */
struct subject {
    char task[32]; /* its name; "" if it is none */
    const void *spawned_at;
};

static void ask(struct subject *s, const struct coil__runnable *runnable)
{
    const struct coil__task_layer *tasks = coil__task_layer;
    const coil_task *task = tasks != NULL ? tasks->stepping(runnable) : NULL;

    s->task[0] = '\0';
    if (task == NULL)
        return;
    snprintf(s->task, sizeof s->task, "%s", tasks->name(task));
    s->spawned_at = tasks->spawned_at(task);
}

/* "Executing task 'x', spawned by f at a.c:3," or "Executing tick at a.c:7, ..." */
static void describe(FILE *out, const coil_loop *loop, const struct subject *s)
{
    bool is_task = s->task[0] != '\0';
    const void *origin = is_task ? s->spawned_at : loop->asked_at;

    fputs("Executing ", out);
    if (is_task)
        fprintf(out, "task '%s'", s->task);
    else if (loop->callback != NULL) /* a symbol is looked up before its address */
        coil__symbol_print(out, (const char *)loop->callback + 1);
    else
        fputs("a callback of coil's", out);
    if (origin == NULL)
        return;
    fputs(is_task ? ", spawned by " : ", asked for by ", out);
    coil__symbol_print(out, origin);
    putc(',', out);
}

static COIL__NOINLINE void report(const coil_loop *loop, const struct subject *s,
                                  int64_t took)
{
    char message[512] = "";
    FILE *out = fmemopen(message, sizeof message, "w");

    if (out == NULL)
        return;
    describe(out, loop, s);
    fprintf(out, " took %.3f seconds", seconds(took));
    fclose(out);
    coil_call_exception_handler(&(coil_exception){.message = message});
}

static void run(coil_loop *loop, struct coil__runnable *runnable)
{
    struct subject subject;
    int64_t began, took;

    ask(&subject, runnable);
    coil__loop_calls(loop, NULL, NULL);
    loop->runs_unpolled++;
    began = coil__clock_monotonic();
    runnable->run(runnable);
    took = coil__clock_monotonic() - began;
    if (took >= loop->slow_ns)
        report(loop, &subject, took);
}

void coil__loop_run_timed(coil_loop *loop)
{
    struct coil__list batch, *link;

    coil__list_init(&batch);
    coil__list_splice(&batch, &loop->batch);
    loop->timing = true;
    while ((link = coil__list_pop(&batch)) != NULL)
        run(loop, COIL__CONTAINER(link, struct coil__runnable, link));
    loop->timing = false;
    coil__loop_choose_turns(loop); /* debug mode may have been left */
}

int coil__loop_poll_timed(coil_loop *loop, int64_t timeout_ns)
{
    int64_t began = coil__clock_monotonic(), late;
    int rc = loop->backend->class->poll(loop->backend, timeout_ns);
    char message[128];

    late = coil__clock_monotonic() - began - timeout_ns;
    if (late < loop->slow_ns)
        return rc;
    snprintf(
        message, sizeof message,
        "A poll took %.3f seconds longer than it was to wait: the machine is busy, or "
        "the process was stopped",
        seconds(late));
    coil_call_exception_handler(&(coil_exception){.message = message});
    return rc;
}
