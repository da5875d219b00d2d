/*
 * traced.c - a program for tests/suites/trace/run to trace.
 *
 *     traced golden       a few tasks with a virtual clock
 *     traced work         two loops with tasks that sleep and pass a lock on, until a
 *                         signal
 *     traced spin         tasks that only yield, until a signal
 *     traced crash        tasks that yield, then abort()
 *     traced idle         one task that sleeps
 *     traced twice        like work, with a loop of this copy of coil and, on another
 *                         thread, a loop of libcoil.so, which ends after the former
 *     traced twice-crash  like twice, then abort()
 *     traced unload       a loop of libcoil.so, which is unloaded after SIGUSR1
 *
 * The program prints "ready" and its process id as soon as it may be traced.
 */
#include <coil.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void must(int rc)
{
    if (rc < 0)
        abort();
}

static void spawn(coil_group *group, coil_task_fn fn, void *arg, const char *name)
{
    coil_spawn_opts opts = {.name = name};

    must(coil_group_spawn(group, fn, arg, &opts, NULL));
}

/* ---- golden ------------------------------------------------------------------------ */

static int use_lock(void *lock)
{
    must(coil_lock_acquire(lock));
    must(coil_sleep(COIL_MSEC(1)));
    coil_lock_release(lock);
    return 1;
}

static int never_end(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(100));
}

static void cancel_task(void *task)
{
    coil_task_cancel(task, "an example");
}

static int run_example(void *arg)
{
    coil_spawn_opts named = {.name = "a very long name that is cut"};
    coil_lock lock = COIL_LOCK_INIT;
    coil_task *task;
    coil_group group;

    (void)arg;
    must(coil_spawn(never_end, NULL, &named, &task));
    must(coil_call_later(COIL_MSEC(5), cancel_task, task, NULL));
    coil_group_enter(&group);
    spawn(&group, use_lock, &lock, "first");
    spawn(&group, use_lock, &lock, "second");
    must(coil_group_exit(&group, 0));
    coil_task_await(task);
    coil_task_release(task);
    return 0;
}

static int golden(void)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true}};

    return coil_run(run_example, NULL, &opts);
}

/* ---- work -------------------------------------------------------------------------- */

static int work_for_ever(void *lock)
{
    int rc = 0;

    while (rc == 0) {
        must(coil_lock_acquire(lock));
        must(coil_yield());
        coil_lock_release(lock);
        rc = coil_sleep(COIL_MSEC(1));
    }
    return rc;
}

static int spin_for_ever(void *arg)
{
    int rc = 0;

    (void)arg;
    while (rc == 0)
        rc = coil_yield();
    return rc;
}

static int run_workers(void *fn)
{
    coil_task_fn work = *(coil_task_fn *)fn;
    coil_lock lock = COIL_LOCK_INIT;
    coil_group group;

    coil_group_enter(&group);
    spawn(&group, work, &lock, "left");
    spawn(&group, work, &lock, "right");
    return coil_group_exit(&group, 0);
}

static int crash(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++)
        must(coil_yield());
    abort();
}

static int idle(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1000));
}

/* ---- two copies of coil ------------------------------------------------------------ */

static int (*other_run)(coil_task_fn fn, void *arg, const void *opts);
static int (*other_sleep)(int64_t ns);
static _Atomic int wakes_of_other;
static volatile sig_atomic_t other_ends;

static int sleep_in_other(void *arg)
{
    int rc = 0;

    (void)arg;
    for (; rc == 0 && !other_ends; wakes_of_other++)
        rc = other_sleep(COIL_MSEC(1));
    return rc;
}

static void *run_other(void *arg)
{
    other_run(sleep_in_other, NULL, NULL);
    return arg;
}

/* Open libcoil.so, and run a loop of it on another thread. Returns the library. */
static void *begin_other(pthread_t *thread)
{
    void *library = dlopen("libcoil.so", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        abort();
    *(void **)&other_run = dlsym(library, "coil_run");
    *(void **)&other_sleep = dlsym(library, "coil_sleep");
    pthread_create(thread, NULL, run_other, NULL);
    return library;
}

static void end_other(int signo)
{
    (void)signo;
    other_ends = 1;
}

static void unload(void)
{
    pthread_t thread;
    void *library;

    signal(SIGUSR1, end_other);
    library = begin_other(&thread);
    pthread_join(thread, NULL);
    dlclose(library);
    for (;;)
        pause();
}

static int crash_after_other(void *arg)
{
    (void)arg;
    while (wakes_of_other < 10)
        must(coil_sleep(COIL_MSEC(1)));
    abort();
}

int main(int argc, char *argv[])
{
    const char *mode = argc > 1 ? argv[1] : "";
    coil_task_fn work = work_for_ever, spin = spin_for_ever, crashing = crash;
    coil_task_fn crashing_late = crash_after_other;
    pthread_t other;
    int rc;

    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    if (strcmp(mode, "golden") == 0)
        return golden() < 0;
    if (strcmp(mode, "work") == 0)
        return coil_run_threads(2, run_workers, &work, NULL) < 0;
    if (strcmp(mode, "spin") == 0)
        return coil_run(run_workers, &spin, NULL) < 0;
    if (strcmp(mode, "crash") == 0)
        return coil_run(run_workers, &crashing, NULL) < 0;
    if (strncmp(mode, "twice", 5) == 0) {
        begin_other(&other);
        rc = coil_run(run_workers, mode[5] == '\0' ? &work : &crashing_late, NULL);
        other_ends = 1;
        pthread_join(other, NULL);
        return rc < 0;
    }
    if (strcmp(mode, "unload") == 0)
        unload();
    if (strcmp(mode, "idle") == 0)
        return coil_run(idle, NULL, NULL) < 0;
    return 2;
}
