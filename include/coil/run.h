/*
 * coil/run.h - run a program's main task on a loop, from main().
 *
 *     #include <coil.h>
 *
 *     static int app(void *arg)
 *     {
 *         (void)arg;
 *         return coil_sleep(COIL_SEC(1));
 *     }
 *
 *     int main(void)
 *     {
 *         return coil_run(app, NULL, NULL) < 0;
 *     }
 */
#ifndef COIL_RUN_H
#define COIL_RUN_H

#include <coil/loop.h>
#include <coil/task.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_run_opts {
    coil_loop_opts loop;
    const char *name;   /* the main task's name; NULL means "main" */
    size_t stack_bytes; /* the main task's stack size; 0 means 1 MiB */
    /*
     * Hooks of the main task; the tasks that it spawns inherit them. NULL means none. See
     * coil/hooks.h.
     */
    const coil_task_hooks *const *hooks;
    bool no_signals; /* install no signal handlers: see coil_run() */
    /*
     * Handle SIGTERM and SIGHUP in the same way as SIGINT. The first signal cancels the
     * main task; a second signal with the same number kills the program. Service managers
     * send SIGTERM to stop a service, and a terminal sends SIGHUP when it closes.
     * docs/manual/server.md shows how to use this option.
     */
    bool take_sigterm;
    /*
     * Receives the number of the first SIGINT, SIGTERM or SIGHUP that arrived, or 0 if
     * none arrived. May be NULL.
     */
    int *signo;
    /*
     * How long a closing loop waits for abandoned blocking work
     * (coil_blocking_abandonable()). 0 means 5 minutes, COIL_NEVER means no limit. Work
     * that is not finished by then is reported, and its threads continue.
     */
    int64_t drain_ns;
    /*
     * Receives the error of the main task; the caller releases it. NULL means that the
     * task succeeded, or failed without an error object. The error may be used after the
     * loop has closed: see coil/error.h.
     */
    coil_error **error;
    /* do not print the main task's failure, because the caller reports it */
    bool no_report;
    /*
     * Make all tasks light, except those whose coil_spawn_opts.light is COIL_NOT_LIGHT.
     * The main task is never light. See docs/manual/light.md.
     */
    bool light;
    /*
     * light_resident_bytes limits the memory for the stacks of light tasks that are not
     * running; 0 means 64 MiB. A light task that has waited for light_age_ns is swapped
     * out when the loop is next idle, even below that limit; 0 means 1 s.
     */
    size_t light_resident_bytes;
    int64_t light_age_ns;
} coil_run_opts;

/*
 * Create a loop, run fn(arg) as its main task, clean up, and return the task's rc.
 * (asyncio: run)
 *
 * After the main task has ended, coil_run() cancels the remaining tasks, awaits them, and
 * reports their failures. Then coil_run() waits for blocking work and closes the loop.
 * Tasks that are spawned during this cleanup are not cancelled, but get six turns of the
 * loop to end, as in CPython. A task that is still waiting after that is reported ("Task
 * was destroyed but it is pending!") and abandoned: its functions never continue.
 *
 * On the main thread, coil_run() handles SIGINT if the signal's disposition is the
 * default. With opts->take_sigterm coil_run() handles SIGTERM and SIGHUP in the same way.
 * The first signal cancels the main task; if the task then ends cancelled, coil_run()
 * returns -EINTR. The second signal kills the program. On SIGQUIT (Ctrl-\), coil_run()
 * prints all tasks: see coil/debug.h.
 *
 * On any thread, coil_run() handles SIGSEGV unless the program has its own handler. If a
 * task has overflowed its stack, the handler prints the name of the task before the
 * program is killed by SIGSEGV. coil_run() restores all dispositions before it returns.
 *
 * The main task has failed if its rc is negative and neither -EINTR nor -ECANCELED. Such
 * a failure is printed with its traceback after the cleanup, unless opts->error or
 * opts->no_report is set. coil_runner_run() and coil_run_threads() report failures in the
 * same way. (Python: an exception that leaves asyncio.run())
 *
 * Fails like coil_loop_create() and coil_spawn(). Aborts if called inside a running loop.
 */
COIL_API COIL_CHECKED int coil_run(coil_task_fn fn, void *arg, const coil_run_opts *opts);

/*
 * A loop that can be run several times. (asyncio: Runner)
 *
 *     coil_runner *runner;
 *     rc = coil_runner_create(NULL, &runner);
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_runner_run(runner, connect_all, &state);
 *     while (rc >= 0 && read_command(&state))
 *         rc = coil_runner_run(runner, execute, &state);
 *     coil_runner_destroy(runner);
 *
 * coil_run() uses a runner for a single run. When a run ends, the remaining tasks pause
 * until the next run. All runs share one context (coil/context.h), which begins as a copy
 * of the caller's. A value that is set in one run is visible in the next run.
 */
typedef struct coil_runner coil_runner;

/*
 * Create a runner and its loop, which becomes the loop of the calling thread. `opts` may
 * be NULL. The options are copied, but not the string opts->loop.backend. Fails like
 * coil_loop_create().
 */
COIL_API COIL_CHECKED int coil_runner_create(const coil_run_opts *opts,
                                             coil_runner **out);

/*
 * Run fn(arg) as a main task and return its rc, as coil_run() does. (asyncio: Runner.run)
 *
 * Each run installs the signal handlers and restores the old ones. Afterwards
 * coil_last_error() returns the task's error. Fails like coil_spawn(), or with -ESHUTDOWN
 * after the runner is closed. Aborts if called inside a running loop.
 */
COIL_API int coil_runner_run(coil_runner *runner, coil_task_fn fn, void *arg);

/* Return the runner's loop; NULL once it is closed. (asyncio: Runner.get_loop) */
COIL_API coil_loop *coil_runner_loop(const coil_runner *runner);

/*
 * Cancel the remaining tasks and wait for them, wait for blocking work, and close the
 * loop. A second call has no effect. (asyncio: Runner.close)
 */
COIL_API void coil_runner_close(coil_runner *runner);

/* Close the runner if it is open, and free it. NULL is accepted. */
COIL_API void coil_runner_destroy(coil_runner *runner);

/*
 * Run the current loop until the future is done, and return its rc. (asyncio:
 * run_until_complete)
 *
 * Fails with -EDEADLK if the loop is stopped before the future is done, or like
 * coil_loop_run_forever().
 */
COIL_API int coil_run_until_complete(coil_future *future);

#ifdef __cplusplus
}
#endif

#endif
