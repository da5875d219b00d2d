/*
 * main.c - runs a third-party library in 20 tasks of one thread. Another task must run at
 * regular intervals all the time, which shows that the library does not block the thread.
 * Ends with `N passed, N failed`.
 */
#include "foreign.h"

#include <coil.h>
#include <coil/posix.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)1024 * 1024)
#define WATCHDOG_S 240

int foreign_port, foreign_begun;
static int passed, failed;
static long ticks;
static ssize_t stack_peak;

static void check(bool right, const char *what)
{
    right ? passed++ : failed++;
    if (!right)
        printf("FAIL %s: %s\n", foreign.name, what);
}

bool foreign_failed(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("%s: ", foreign.name);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    return false;
}

/* ---- the way to the server --------------------------------------------------------- */

struct direction {
    coil_stream *from, *to;
};

static int hand_on(void *arg)
{
    struct direction *d = arg;
    ssize_t n = coil_copy(d->from, d->to);

    return n < 0 ? (int)n : coil_stream_shutdown_write(d->to);
}

static int serve(coil_stream *client, void *arg)
{
    struct direction there = {.from = client}, back = {.to = client};
    coil_group group;
    int rc = coil_connect("127.0.0.1", arg, &there.to);

    if (rc < 0)
        return rc;
    back.from = there.to;
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, hand_on, &there, NULL, NULL);
    if (rc == 0)
        rc = hand_on(&back);
    coil_group_exit(&group, rc); /* either side may close first */
    coil_stream_destroy(there.to);
    return 0;
}

static int stand_between(void *port)
{
    coil_listener *listener;
    int rc = coil_listen("127.0.0.1", "0", 0, &listener);

    if (rc < 0)
        return rc;
    foreign_port = coil_listener_port(listener);
    rc = coil_serve(listener, serve, port, NULL);
    coil_listener_destroy(listener);
    return rc;
}

/* ---- the uses ---------------------------------------------------------------------- */

static int tick(void *arg)
{
    (void)arg;
    while (coil_sleep(COIL_MSEC(1)) == 0)
        ticks++;
    return -ECANCELED;
}

static void note_stack(void)
{
    ssize_t peak = coil_task_stack_peak(coil_task_current());

    if (peak > stack_peak)
        stack_peak = peak;
}

static int use(void *arg)
{
    long before = ticks;

    foreign_begun++;
    check(foreign.use((int)(intptr_t)arg), "a use went wrong");
    check(ticks > before, "nobody else ran while one waited");
    note_stack();
    return 0;
}

static int call(void *arg)
{
    bool (*const *fn)(void) = arg;

    if (*fn != NULL)
        check((*fn)(), "the start, the end, or the other side");
    return 0;
}

static coil_task *start(int (*fn)(void *arg), void *arg)
{
    static const coil_task_hooks *hooks[4];
    coil_spawn_opts opts = {.stack_bytes = STACK_BYTES, .hooks = hooks};
    coil_task *task = NULL;
    int n = 0;

    if (foreign.thread_keys)
        hooks[n++] = coil_hooks_thread_keys();
    if (foreign.thread_locals != NULL)
        hooks[n++] = coil_hooks_thread_locals((const void *)foreign.thread_locals);
    hooks[n] = foreign.hooks;
    check(coil_spawn(fn, arg, &opts, &task) == 0, "a task could not be started");
    return task;
}

static void finish(coil_task *task)
{
    coil_task_await(task);
    coil_task_release(task);
}

static void end(coil_task *task)
{
    coil_task_cancel(task, NULL);
    finish(task);
}

static void use_all(void)
{
    coil_task *tasks[FOREIGN_USES],
        *other_side = start(call, (void *)&foreign.other_side);

    for (int i = 0; i < FOREIGN_USES; i++)
        tasks[i] = start(use, (void *)(intptr_t)i);
    for (int i = 0; i < FOREIGN_USES; i++)
        finish(tasks[i]);
    finish(other_side);
}

static int app(void *arg)
{
    coil_task *between = foreign.server ? start(stand_between, arg) : NULL;
    coil_task *ticker = start(tick, NULL);

    coil_task_stack_peak(coil_task_current()); /* starts the measurement of stacks */
    while (foreign.server && foreign_port == 0)
        coil_yield();
    finish(start(call, (void *)&foreign.start));
    use_all();
    finish(start(call, (void *)&foreign.stop));
    end(ticker);
    if (between != NULL)
        end(between);
    return 0;
}

int main(void)
{
    char *port = getenv("FOREIGN_SERVER");

    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(WATCHDOG_S);
    check(!foreign.server || port != NULL, "FOREIGN_SERVER says no port");
    if (foreign.before_run != NULL)
        foreign.before_run();
    if (failed == 0)
        check(coil_run(app, port, NULL) == 0, "it failed");
    printf("%s: %d uses, %ld ticks\n", foreign.name, FOREIGN_USES, ticks);
    printf("| %s | %s | %s | %zd KiB | %s |\n", foreign.name, FOREIGN_VERSION,
           foreign.option != NULL ? foreign.option
           : foreign.thread_keys  ? "with `coil_hooks_thread_keys()`"
                                  : "works",
           (stack_peak + 4095) / 4096 * 4, foreign.tested);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
