/*
 * main.c - runs scenarios, each in a process of its own, and prints their traces.
 *
 *     coil-scenarios [--soak | --skip-polls] [NAME...]
 *
 * Without names, all of them; with --skip-polls on a loop that leaves out polls, as one
 * with a real clock does. --soak runs each again and again, with its 1st, 2nd, ...
 * allocation failing: that may change the trace, but must not crash, leak or hang, and
 * another program must run well in the same process afterwards.
 */
#include "scenario.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 20

static struct scenario *scenarios;
static bool skip_polls;
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

int tell(const char *what, int rc)
{
    trace("%s: %s", what, outcome(rc));
    return rc;
}

/* ---- memory: counted, and made to fail --------------------------------------------- */

static struct {
    long blocks; /* that are allocated and not freed */
    unsigned long made;
    unsigned long failing; /* the one that fails; 0 for none */
    bool failed;
} memory;

static void *counting_realloc(void *context, void *block, size_t size)
{
    void *moved;

    (void)context;
    if (size == 0) {
        memory.blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (++memory.made == memory.failing) {
        memory.failed = true;
        return NULL;
    }
    moved = realloc(block, size);
    memory.blocks += block == NULL && moved != NULL;
    return moved;
}

bool allocation_failed(void)
{
    return memory.failed;
}

/* ---- what a scenario holds ----------------------------------------------------------
 */

static coil_future *held[64];
static size_t held_count;

static void hold(coil_future *future)
{
    if (held_count == sizeof held / sizeof held[0])
        abort();
    held[held_count++] = future;
}

static void release_held(void)
{
    while (held_count > 0)
        coil_future_release(held[--held_count]);
}

coil_task *start(coil_task_fn fn, void *arg)
{
    coil_task *task;

    if (memory.failed || coil_spawn(fn, arg, NULL, &task) < 0)
        return NULL;
    hold(coil_task_future(task));
    return task;
}

coil_future *new_future(void)
{
    coil_future *future;

    if (memory.failed || coil_future_create(&future) < 0)
        return NULL;
    hold(future);
    return future;
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

/* ---- one scenario -------------------------------------------------------------------
 */

static int run_body(const struct scenario *scenario)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true, .skip_polls = skip_polls},
                          .no_signals = true};

    return scenario->in_task ? coil_run(scenario->body, NULL, &opts)
                             : scenario->body(NULL);
}

static int breathe(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

/* In the child: returns its exit status. */
static int run_here(const struct scenario *scenario)
{
    static const struct scenario afterwards = {"afterwards", breathe, true, NULL};
    int rc;

    alarm(SECONDS_MAX);
    setvbuf(stdout, NULL, _IOLBF, 0);
    rc = run_body(scenario);
    release_held();
    if (rc < 0)
        printf("ends: %s\n", outcome(rc));
    if (memory.failing > 0 && run_body(&afterwards) != 0)
        printf("nothing runs any more\n");
    if (memory.blocks != 0)
        printf("leaked: %ld blocks\n", memory.blocks);
    fflush(stdout);
    return memory.failing > 0 && !memory.failed ? 3 : memory.blocks != 0;
}

/* Runs it in a child; its exit status, or -1 if it was killed, which is said. */
static int run_forked(const struct scenario *scenario, const char *remark)
{
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0)
        _exit(run_here(scenario));
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        perror("coil-scenarios");
        exit(1);
    }
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    printf("died%s: %s\n", remark, strsignal(WTERMSIG(status)));
    return -1;
}

/* ---- every allocation in turn -------------------------------------------------------
 */

/* True if it came through them all. The traces are thrown away, save for complaints. */
static bool soak(const struct scenario *scenario)
{
    char remark[64];
    int out = dup(1), status;

    for (memory.failing = 1;; memory.failing++) {
        snprintf(remark, sizeof remark, " at allocation %lu of %s", memory.failing,
                 scenario->name);
        if (freopen("/dev/null", "w", stdout) == NULL)
            exit(1);
        status = run_forked(scenario, "");
        fflush(stdout);
        dup2(out, 1);
        if (status == 3)
            break;
        if (status != 0) {
            printf("%s%s\n", status < 0 ? "died" : "leaked", remark);
            close(out);
            return false;
        }
    }
    close(out);
    printf("%s: %lu allocations\n", scenario->name, memory.failing - 1);
    return true;
}

/* ---- all of them --------------------------------------------------------------------
 */

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
    static const coil_allocator counting = {counting_realloc, NULL};
    bool soaking = argc > 1 && strcmp(argv[1], "--soak") == 0;
    struct scenario **sorted = calloc(scenario_count + 1, sizeof(struct scenario *));
    size_t n = 0;
    int failed = 0;

    if (sorted == NULL)
        return 1;
    skip_polls = argc > 1 && strcmp(argv[1], "--skip-polls") == 0;
    coil_set_allocator(&counting);
    for (struct scenario *s = scenarios; s != NULL; s = s->next)
        if (wanted(s, argv + 1 + (soaking || skip_polls)))
            sorted[n++] = s;
    qsort(sorted, n, sizeof sorted[0], compare_names);
    for (size_t i = 0; i < n; i++) {
        if (soaking) {
            failed += !soak(sorted[i]);
            continue;
        }
        printf("scenario %s\n", sorted[i]->name);
        run_forked(sorted[i], "");
    }
    free(sorted);
    return failed > 0;
}
