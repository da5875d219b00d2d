/*
 * slow.c - in debug mode, times each runnable, and reports slow ones by name.
 *
 * The batch is moved to a private list before its runnables are run one by one. So a task
 * that is suspended finds the loop's batch empty and a poll due, and returns here instead
 * of switching directly to the next task. A runnable may be freed when it runs, so its
 * name and origin are read in advance. Times are measured with the real clock, even if
 * the loop has a virtual clock.
 */
#include "loop.h"

#include "../error/backtrace.h"
#include "../error/symbol.h"
#include "sampler.h"

#define SLOW_NS COIL_MSEC(100)

void coil__slow_init(struct coil__slow *slow)
{
    slow->slow_ns = SLOW_NS;
}

void coil__loop_set_slow(coil_loop *loop, int64_t ns)
{
    loop->slow.slow_ns = ns;
}

const void *coil__loop_callback(const coil_loop *loop)
{
    return loop->slow.callback;
}

void coil__loop_finish_debug(coil_loop *loop)
{
    coil__sampler_stop(loop->slow.sampler);
    loop->slow.sampler = NULL;
    loop->slow.sampler_tried = false;
}

void coil__loop_set_debug(coil_loop *loop, bool on)
{
    loop->debug = on;
    loop->number_in_checks = on ? COIL__LOOP_CAREFUL : loop->number;
    coil__keep_freed_objects(on);
    coil__stack_set_debug(on);
    if (on)
        coil__backtrace_prepare();
    else
        coil__loop_finish_debug(loop);
    if (loop == coil__loop_of_thread)
        coil__loop_set_of_thread(loop);
    coil__loop_choose_turns(loop);
}

void coil__slow_forked(coil_loop *loop)
{
    loop->slow.sampler = NULL;
}

/*
 * Called before the first step, because a loop that never runs needs no sampler thread.
 */
static void start_sampler(coil_loop *loop)
{
    loop->slow.sampler_tried = true;
    loop->slow.sampler = coil__sampler_start();
}

static double to_seconds(int64_t span_ns)
{
    return (double)span_ns / (double)COIL_SEC(1);
}

/* The description of a runnable, made before it runs. */
struct subject {
    char task[32]; /* the task's name; "" if it is not a task */
    const void *spawned_at;
};

static void describe_subject(struct subject *s, const struct coil__runnable *runnable)
{
    const struct coil__task_layer *tasks = coil__task_layer;
    const coil_task *task = tasks != NULL ? tasks->stepping(runnable) : NULL;

    *s = (struct subject){.task = ""};
    if (task == NULL)
        return;
    snprintf(s->task, sizeof s->task, "%s", tasks->name(task));
    s->spawned_at = tasks->spawned_at(task);
}

/*
 * Print "Executing task 'x', spawned by f at a.c:3," or "Executing tick at a.c:7, ...".
 */
static void print_subject(struct coil__report *report, const coil_loop *loop,
                          const struct subject *s)
{
    bool is_task = s->task[0] != '\0';

    coil__report_words(report, "Executing ");
    if (is_task)
        coil__report_words(report, "task '%s'", s->task);
    /* + 1, because the printer expects a return address */
    else if (loop->slow.callback != NULL)
        coil__symbol_print(report, NULL, "%s", (const char *)loop->slow.callback + 1);
    else
        coil__report_words(report, "an internal callback");
    if (is_task)
        coil__symbol_print(report, NULL, ", spawned by %s,", s->spawned_at);
    else
        coil__symbol_print(report, NULL, ", requested by %s,", loop->slow.requested_by);
}

static COIL__NOINLINE void report(const coil_loop *loop, const struct subject *s,
                                  const struct coil__sample *sample, int64_t took)
{
    char message[1024];
    struct coil__report text;

    if (!coil__report_begin_text(&text, message, sizeof message))
        return;
    print_subject(&text, loop, s);
    coil__report_words(&text, " took %.3f seconds", to_seconds(took));
    coil__sample_print(&text, sample);
    coil__report_end_text(&text);
    coil_call_exception_handler(&(coil_exception){.message = message});
}

static void run(coil_loop *loop, struct coil__runnable *runnable)
{
    struct subject subject;
    struct coil__sample sample;
    int64_t began, took;

    if (!loop->slow.sampler_tried && loop->debug)
        start_sampler(loop);
    describe_subject(&subject, runnable);
    coil__loop_calls(loop, NULL, NULL);
    loop->runs_unpolled++;
    began = coil__clock_monotonic();
    coil__sampler_begin(loop->slow.sampler, subject.task, subject.spawned_at, began,
                        loop->slow.slow_ns);
    coil__loop_run(loop, runnable);
    took = coil__clock_monotonic() - began;
    coil__sampler_end(loop->slow.sampler, &sample);
    if (took >= loop->slow.slow_ns)
        report(loop, &subject, &sample, took);
}

void coil__loop_run_timed(coil_loop *loop)
{
    struct coil__list batch, *link;

    coil__list_init(&batch);
    coil__list_splice(&batch, &loop->batch);
    loop->slow.timing = true;
    while ((link = coil__list_pop(&batch)) != NULL) {
        run(loop, COIL__CONTAINER(link, struct coil__runnable, link));
        /* the runnable may have called fork(2) */
        coil__loop_require_own(loop, "continuing the event loop");
    }
    loop->slow.timing = false;
    coil__loop_choose_turns(loop); /* a callback may have switched debug mode off */
}

int coil__loop_poll_timed(coil_loop *loop, int64_t timeout_ns)
{
    int64_t began = coil__clock_monotonic(), late;
    int rc = coil__loop_poll(loop, timeout_ns);
    char message[128];

    late = coil__clock_monotonic() - began - timeout_ns;
    if (late < loop->slow.slow_ns)
        return rc;
    snprintf(message, sizeof message,
             "A poll took %.3f seconds longer than its time-out: the machine is busy, or "
             "the process was stopped",
             to_seconds(late));
    coil_call_exception_handler(&(coil_exception){.message = message});
    return rc;
}
