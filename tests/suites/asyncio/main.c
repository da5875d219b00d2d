/*
 * main.c - runs scenarios, each in its own process, and prints their traces.
 *
 *     coil-scenarios [NAME...]                 the traces; without names, of all
 *     coil-scenarios --skip-polls [NAME...]    the same on a loop that leaves out polls
 *     coil-scenarios --soak [NAME...]          on all bad days, see days.h; no traces
 *     coil-scenarios --sample SEED [NAME...]   on some of them
 *     coil-scenarios --good [NAME...]          on the good day alone; no traces
 */
#include "days.h"

#include <stdarg.h>

static struct scenario *scenarios;
static size_t scenario_count;

void scenario__register(struct scenario *scenario)
{
    scenario->next = scenarios;
    scenarios = scenario;
    scenario_count++;
}

/* ---- the trace --------------------------------------------------------------------- */

void trace(const char *format, ...)
{
    const coil_loop *loop = coil_loop_current();
    va_list args;

    printf("%lld ", loop != NULL && coil_loop_running(loop)
                        ? (long long)(coil_now() / COIL_SEC(1))
                        : 0);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

const char *outcome(int rc)
{
    static char texts[8][24];
    static unsigned next;
    char *text = texts[next++ % 8];
    const char *name = rc < 0 ? strerrorname_np(-rc) : NULL;

    if (name != NULL)
        return name;
    snprintf(text, sizeof texts[0], "%d", rc);
    return text;
}

const char *state(coil_future *future)
{
    return outcome(coil_future_result(future));
}

const char *failures(const coil_group *group)
{
    static char text[24 * COIL_GROUP_ERRORS];
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < COIL_GROUP_ERRORS && coil_group_error(group, i) != 0; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 i > 0 ? " " : "", outcome(coil_group_error(group, i)));
    return text;
}

int trace_outcome(const char *what, int rc)
{
    trace("%s: %s", what, outcome(rc));
    return rc;
}

/* ---- what a scenario holds --------------------------------------------------------- */

static struct {
    void (*fn)(void *arg);
    void *arg;
} ends[64];
static size_t end_count;

void at_end(void (*fn)(void *arg), void *arg)
{
    if (end_count == sizeof ends / sizeof ends[0])
        abort();
    ends[end_count].fn = fn;
    ends[end_count++].arg = arg;
}

void scenario__end(void)
{
    while (end_count > 0) {
        end_count--;
        ends[end_count].fn(ends[end_count].arg);
    }
}

static void release(void *future)
{
    coil_future_release(future);
}

static bool given_up; /* an object could not be created */

struct body {
    coil_task_fn fn;
    void *arg;
};

/*
 * Run the task's function. If some object could not be created, return at once, because
 * the function might need that object.
 */
static int begin_body(void *arg)
{
    const struct body *body = arg;

    return given_up ? -ENOMEM : body->fn(body->arg);
}

coil_task *start_with(coil_task_fn fn, void *arg, const coil_spawn_opts *opts)
{
    coil_spawn_opts all = opts != NULL ? *opts : (coil_spawn_opts){.name = NULL};
    struct body body = {fn, arg};
    coil_task *task;

    all.arg_bytes = sizeof body;
    given_up =
        given_up || allocation_failed() || coil_spawn(begin_body, &body, &all, &task) < 0;
    if (given_up)
        return NULL;
    at_end(release, coil_task_future(task));
    return task;
}

coil_task *start_child(coil_group *group, coil_task_fn fn, void *arg)
{
    coil_task *task;

    given_up = given_up || allocation_failed() ||
               coil_group_spawn(group, fn, arg, NULL, &task) < 0;
    if (given_up)
        return NULL;
    at_end(release, coil_future_retain(coil_task_future(task)));
    return task;
}

coil_task *start(coil_task_fn fn, void *arg)
{
    return start_with(fn, arg, NULL);
}

coil_future *new_future(void)
{
    coil_future *future;

    given_up = given_up || allocation_failed() || coil_future_create(&future) < 0;
    if (given_up)
        return NULL;
    at_end(release, future);
    return future;
}

void trace_exception(const coil_exception *exception, void *arg)
{
    (void)arg;
    trace("%s: %s", exception->message, outcome(exception->rc));
}

int turns(int n)
{
    int rc = 0;

    while (rc == 0 && n-- > 0)
        rc = coil_yield();
    return rc;
}

int ticker(void *arg)
{
    int rc = 0;

    for (int i = 1; rc == 0 && i <= (intptr_t)arg; i++) {
        trace("turn %d", i);
        rc = coil_yield();
    }
    return rc;
}

/* ---- all of them ------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(struct scenario *const *)a)->name,
                  (*(struct scenario *const *)b)->name);
}

static bool wanted(const struct scenario *scenario, char *names[])
{
    if (names[0] == NULL)
        return true;
    while (*names != NULL)
        if (strcmp(*names++, scenario->name) == 0)
            return true;
    return false;
}

int main(int argc, char *argv[])
{
    struct scenario **sorted = calloc(scenario_count + 1, sizeof(struct scenario *));
    bool soak = argc > 1 && strcmp(argv[1], "--soak") == 0;
    bool sample = argc > 2 && strcmp(argv[1], "--sample") == 0;
    bool good = argc > 1 && strcmp(argv[1], "--good") == 0;
    bool skip_polls = argc > 1 && strcmp(argv[1], "--skip-polls") == 0;
    uint64_t seed = sample ? strtoull(argv[2], NULL, 10) : 0;
    size_t n = 0;
    int failed = 0;

    if (sorted == NULL || !days_begin(skip_polls))
        return 1;
    for (struct scenario *s = scenarios; s != NULL; s = s->next)
        if (wanted(s, argv + 1 + soak + good + skip_polls + 2 * sample))
            sorted[n++] = s;
    qsort(sorted, n, sizeof sorted[0], compare_names);
    for (size_t i = 0; i < n; i++) {
        if (soak)
            failed += !all_days(sorted[i]);
        else if (sample)
            failed += !some_days(sorted[i], &seed);
        else if (good)
            failed += !survives_good_day(sorted[i]);
        else
            good_day(sorted[i]);
    }
    free(sorted);
    return failed > 0;
}
