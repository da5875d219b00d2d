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
    const char *name;                    /* of the main task; NULL means "main" */
    size_t stack_bytes;                  /* of the main task; 0 means 1 MiB */
    const coil_task_hooks *const *hooks; /* of the main task, and so of those it spawns;
                                            NULL means none. See coil/hooks.h */
    bool no_signals; /* leave SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGSEGV alone */
    /*
     * SIGTERM and SIGHUP are taken as SIGINT is: the first cancels the main task, the
     * second of the same ends the program. What services are told by to end, and by the
     * terminal that is closed; docs/manual/server.md has the recipe.
     */
    bool take_sigterm;
    int *signo; /* receives which of them came first; 0: none did. May be NULL */
    /*
     * How long closing waits for blocking work that was abandoned
     * (coil_blocking_abandonable()); 0 means 5 minutes, COIL_NEVER without limit. What is
     * not done by then is reported, and left to its threads.
     */
    int64_t drain_ns;
    /*
     * Receives the error that the main task failed with, to be released; NULL if it has
     * not failed, or with an rc alone. Errors outlive their loop: coil/error.h.
     */
    coil_error **error;
    bool no_report; /* of the main task's failure: the caller reports it */
    /*
     * The tasks that the run spawns are light, unless their coil_spawn_opts.light says
     * otherwise; the main task is not. See docs/manual/light.md.
     */
    bool light;
    /*
     * For light tasks: how much memory the stacks of those may take that do not run (0
     * means 64 MiB); and how long a task waits before its stack is put away all the same,
     * the next time that the loop has nothing to do (0 means 1 s).
     */
    size_t light_resident_bytes;
    int64_t light_age_ns;
} coil_run_opts;

/*
 * Create a loop, run fn(arg) as its main task, clean up, and return its rc.
 * (asyncio: run)
 *
 * When the main task has ended, tasks that are left are cancelled and awaited, failures
 * among them reported; blocking work is finished; the loop is closed. That is done once:
 * what these tasks spawn meanwhile is not cancelled, has six turns of the loop as in
 * CPython, and if it waits for longer, is reported ("Task was destroyed but it is
 * pending!") and its frames are lost.
 *
 * On the main thread, and where the disposition was the default, SIGINT is taken, and
 * with opts->take_sigterm SIGTERM and SIGHUP: the first cancels the main task, and if
 * that ends cancelled coil_run() returns -EINTR; the second ends the program by the
 * signal; SIGQUIT (Ctrl-\) is taken to print all tasks: coil/debug.h. On any thread
 * SIGSEGV is, where nobody else has it, to print which task overflowed its stack; then it
 * ends the program as ever. All are restored.
 *
 * A failure of the main task (a negative rc, neither -EINTR nor -ECANCELED) is printed
 * with its traceback when all that is done, so that "address in use" is no exit without a
 * word: unless opts->error takes it, or opts->no_report says that the caller tells of the
 * rc itself. So it goes for coil_runner_run() and coil_run_threads(), too. (Python: an
 * exception that leaves asyncio.run())
 *
 * Fails as coil_loop_create() and coil_spawn(). Inside a running loop it stops the
 * program.
 */
COIL_API int coil_run(coil_task_fn fn, void *arg, const coil_run_opts *opts);

/*
 * A loop to be run several times. (asyncio: Runner)
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
 * coil_run() is one that runs once. Tasks that are left when a run ends stand still until
 * the next. All runs share one context (coil/context.h), which begins as a copy of the
 * caller's: what one sets, the next one sees.
 */
typedef struct coil_runner coil_runner;

/*
 * Create it and its loop, which is the thread's from now on. `opts` may be NULL; they are
 * copied, but opts->loop.backend. Fails as coil_loop_create().
 */
COIL_API int coil_runner_create(const coil_run_opts *opts, coil_runner **out);

/*
 * Run fn(arg) as a main task and return its rc, as coil_run() does; each run takes SIGINT
 * and SIGQUIT and restores them. The task's error is the thread's then (coil_last_error()).
 * Fails as coil_spawn(), and with -ESHUTDOWN once the runner is closed. Inside a running
 * loop it stops the program. (asyncio: Runner.run)
 */
COIL_API int coil_runner_run(coil_runner *runner, coil_task_fn fn, void *arg);

/* Its loop; NULL once it is closed. (asyncio: Runner.get_loop) */
COIL_API coil_loop *coil_runner_loop(const coil_runner *runner);

/*
 * Cancel the tasks that are left and wait for them, wait for blocking work, close the
 * loop. A second time it does nothing. (asyncio: Runner.close)
 */
COIL_API void coil_runner_close(coil_runner *runner);

/* Close it, if it is not yet, and free it. NULL is accepted. */
COIL_API void coil_runner_destroy(coil_runner *runner);

/*
 * Run the current loop until the future is done, and return its rc; -EDEADLK if somebody
 * stopped the loop before that, and otherwise as coil_loop_run_forever(). (asyncio:
 * run_until_complete)
 */
COIL_API int coil_run_until_complete(coil_future *future);

#ifdef __cplusplus
}
#endif

#endif
