/*
 * run.c - coil_run() and runners: run main tasks in a loop, handle Ctrl-C, and shut down.
 *
 *   open_runner() --> run_main(), again and again --> coil_runner_close()
 *   loop, context     main task, Ctrl-C               leftovers, threads, loop
 *
 * coil_run() is a runner with only one main task. (asyncio: runners.py)
 */
#include "run.h"

#include "../coro/light.h"
#include "../debug/quit.h"
#include "../kernel/thread.h"
#include "../task/failure.h"
#include "../task/task.h"

#include <coil/error.h>
#include <coil/run.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAIN_STACK_BYTES ((size_t)1024 * 1024)

/* ---- run until complete ------------------------------------------------------------ */

struct stopper {
    struct coil__runnable runnable;
    coil_loop *loop;
};

static void stop_loop(struct coil__runnable *runnable)
{
    coil_loop_stop(COIL__CONTAINER(runnable, struct stopper, runnable)->loop);
}

/*
 * Run the loop until the future is complete, and return the future's rc. Sets *deadlock
 * to true if the loop has found and reported a deadlock.
 */
static int run_until_complete(coil_future *future, bool *deadlock)
{
    struct stopper stopper = {.loop = future->loop};
    int rc;

    coil__runnable_init(&stopper.runnable, stop_loop);
    coil_future_retain(future);
    coil__future_subscribe(future, &stopper.runnable);
    rc = coil_loop_run_forever(future->loop);
    *deadlock = rc == -EDEADLK;
    coil__list_remove(&stopper.runnable.link);
    if (rc == 0)
        rc = coil__future_pending(future) ? -EDEADLK : coil__future_retrieve(future);
    coil_future_release(future);
    return rc;
}

COIL__NOINLINE int coil_run_until_complete(coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    bool deadlock;
    int rc = run_until_complete(future, &deadlock);

    coil__failure_hand_on_error(coil_future_error(future), rc, COIL__CALLER());
    return rc;
}

/* ---- Ctrl-C ------------------------------------------------------------------------ */

/*
 * The signals that cancel the main task: SIGINT, and with opts.take_sigterm also the
 * others.
 */
static const struct {
    int signo;
    const char *reason;
} interrupting[] = {
    {SIGINT, "interrupted by SIGINT"},
    {SIGTERM, "interrupted by SIGTERM"},
    {SIGHUP, "interrupted by SIGHUP"},
};

#define INTERRUPTING (sizeof interrupting / sizeof interrupting[0])

/*
 * The signal handler only wakes the loop, which then cancels the main task. SA_RESETHAND
 * restores the default action when the handler is called, so a second Ctrl-C ends the
 * program at once. The handler can also be called in a forked child, or after the run, if
 * the program has replaced it during the run and put it back later (os/signal_table.c).
 * In these cases the handler raises the signal again, which ends the program.
 */
struct interruption {
    struct coil__runnable runnable;
    coil_task *main_task;
    struct sigaction previous[INTERRUPTING];
    bool installed[INTERRUPTING];
    int signo;     /* the first signal of this run, or 0 */
    bool happened; /* the main task was cancelled because of the signal */
};

static coil_loop *volatile interrupted_loop;
static volatile sig_atomic_t interrupted_by; /* the first signal of this run */

static void on_interruption(int signo)
{
    if (interrupted_loop == NULL || interrupted_loop->pid != getpid()) {
        raise(signo); /* delivered when the handler returns */
        return;
    }
    if (interrupted_by == 0)
        interrupted_by = signo;
    coil__loop_interrupt(interrupted_loop);
}

static const char *reason_of_signal(int signo)
{
    for (size_t k = 0; k < INTERRUPTING; k++)
        if (interrupting[k].signo == signo)
            return interrupting[k].reason;
    return NULL;
}

/* Cancel the main task at the first signal, and ignore further ones. */
static void cancel_main(struct coil__runnable *runnable)
{
    struct interruption *i = COIL__CONTAINER(runnable, struct interruption, runnable);

    if (i->signo != 0)
        return;
    i->signo = interrupted_by;
    i->happened = coil_task_cancel(i->main_task, reason_of_signal(i->signo));
}

static void take_signal(struct interruption *i, size_t k)
{
    struct sigaction action = {.sa_handler = on_interruption,
                               .sa_flags = SA_RESETHAND | SA_RESTART};
    struct sigaction *previous = &i->previous[k];

    if (sigaction(interrupting[k].signo, NULL, previous) < 0)
        return;
    if (previous->sa_handler == on_interruption)
        *previous = (struct sigaction){.sa_handler = SIG_DFL};
    if (previous->sa_handler == SIG_DFL)
        i->installed[k] = sigaction(interrupting[k].signo, &action, NULL) == 0;
}

static void take_signals(struct interruption *i, coil_loop *loop, bool take_sigterm)
{
    if (!coil__thread_is_main())
        return;
    coil__runnable_init(&i->runnable, cancel_main);
    interrupted_by = 0;
    coil__loop_set_on_interrupt(loop, &i->runnable);
    interrupted_loop = loop;
    for (size_t k = 0; k < (take_sigterm ? INTERRUPTING : 1); k++)
        take_signal(i, k);
}

static void restore_signals(struct interruption *i, coil_loop *loop)
{
    struct sigaction now;

    if (coil__loop_on_interrupt(loop) != &i->runnable)
        return;
    for (size_t k = 0; k < INTERRUPTING; k++)
        if (i->installed[k] && sigaction(interrupting[k].signo, NULL, &now) == 0 &&
            now.sa_handler == on_interruption)
            sigaction(interrupting[k].signo, &i->previous[k], NULL);
    interrupted_loop = NULL;
    coil__loop_set_on_interrupt(loop, NULL);
    coil__list_remove(&i->runnable.link);
    i->signo = interrupted_by; /* the loop's last turn may have missed the signal */
}

/* ---- run --------------------------------------------------------------------------- */

struct coil_runner {
    coil_run_opts opts;
    char name[COIL__NAME_BYTES];
    coil_loop *loop; /* NULL once closed */
    coil_context *context;
    bool overflow_reported;
    bool reported; /* the last main task's failure was already reported */
    /* a reference to the last main task's error, until report_result() */
    coil_error *failure;
    bool destroyed;
};

/*
 * Report the failure of the last main task, unless coil_run_opts.error is set: in that
 * case the caller gets the error. Returns rc.
 */
static int report_result(coil_runner *runner, int rc)
{
    if (!runner->reported)
        coil__run_report(&runner->opts, runner->name, rc, runner->failure);
    if (runner->opts.error == NULL)
        coil_error_release(runner->failure);
    runner->failure = NULL;
    return rc;
}

/*
 * Clear the results of the previous main task. Called before the next main task is
 * started, so that no old results remain if the start fails.
 */
static void clear_result(coil_runner *runner)
{
    runner->reported = false;
    if (runner->opts.error != NULL)
        *runner->opts.error = NULL;
    if (runner->opts.signo != NULL)
        *runner->opts.signo = 0;
}

/* Initialize a zeroed runner. On failure, no resources remain allocated. */
static int open_runner(coil_runner *runner, const coil_run_opts *opts)
{
    int rc;

    if (opts != NULL)
        runner->opts = *opts;
    clear_result(runner);
    strncpy(runner->name, runner->opts.name != NULL ? runner->opts.name : "main",
            sizeof runner->name - 1);
    runner->context = coil_context_copy();
    if (runner->context == NULL)
        return -ENOMEM;
    rc = coil_loop_create(&runner->opts.loop, &runner->loop);
    if (rc < 0) {
        coil_context_release(runner->context);
        return rc;
    }
    if (runner->opts.drain_ns != 0)
        runner->loop->drain_ns = runner->opts.drain_ns;
    if (!runner->opts.no_signals)
        runner->overflow_reported = coil__overflow_install();
    runner->loop->light_tasks = runner->opts.light;
    coil__light_limit(runner->opts.light_resident_bytes, runner->opts.light_age_ns);
    return 0;
}

void coil__run_report(const coil_run_opts *opts, const char *name, int rc,
                      coil_error *error)
{
    char message[96];

    if (rc >= 0 || rc == -EINTR || rc == -ECANCELED || opts->error != NULL ||
        opts->no_report)
        return;
    snprintf(message, sizeof message, "The main task '%s' has failed", name);
    coil_default_exception_handler(
        &(coil_exception){.message = message, .rc = rc, .error = error});
}

/* Return a new reference to the future's error, or NULL if there is none. */
static coil_error *error_of(const coil_future *future)
{
    coil_error *error = coil_future_error(future);

    return error != NULL ? coil_error_retain(error) : NULL;
}

static int run_main(coil_runner *runner, coil_task_fn fn, void *arg)
{
    size_t stack_bytes = runner->opts.stack_bytes;
    coil_spawn_opts spawn = {
        .name = runner->name,
        .stack_bytes = stack_bytes != 0 ? stack_bytes : MAIN_STACK_BYTES,
        .context = runner->context,
        .hooks = runner->opts.hooks,
        .light = runner->opts.light ? COIL_NOT_LIGHT : COIL_LIGHT_AS_RUN};
    struct interruption interruption = {.signo = 0};
    bool quit_taken;
    int rc;

    clear_result(runner);
    rc = coil_spawn(fn, arg, &spawn, &interruption.main_task);
    if (rc < 0)
        return rc;
    /* otherwise reports would name this file as the place of the spawn */
    interruption.main_task->spawned_at = NULL;
    if (!runner->opts.no_signals)
        take_signals(&interruption, runner->loop, runner->opts.take_sigterm);
    quit_taken =
        !runner->opts.no_signals && coil__thread_is_main() &&
        coil__quit_install(runner->loop, (const void *)fn, __builtin_frame_address(0));
    rc = run_until_complete(&interruption.main_task->future, &runner->reported);
    runner->failure = error_of(&interruption.main_task->future);
    if (runner->opts.error != NULL)
        *runner->opts.error = runner->failure;
    if (rc == -ECANCELED && interruption.happened &&
        coil__task_uncancel(interruption.main_task) == 0)
        rc = -EINTR;
    if (quit_taken)
        coil__quit_uninstall(runner->loop);
    restore_signals(&interruption, runner->loop);
    if (runner->opts.signo != NULL)
        *runner->opts.signo = interruption.signo;
    coil_task_release(interruption.main_task);
    return rc;
}

/*
 * Release the tasks that still existed when the main task ended. The failures of these
 * tasks are reported, even failures that were retrieved, because no task can handle them
 * any more.
 */
static void release_leftovers(void)
{
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        if (!task->leftover)
            continue;
        task->leftover = false;
        /* a task is still pending only if the loop has failed */
        if (!coil__future_pending(&task->future))
            coil__list_remove(link);
        if (coil_future_get_state(&task->future) == COIL_FAILED)
            coil__future_report_unseen(&task->future,
                                       "unhandled exception during coil_run() shutdown");
        coil_task_release(task);
    }
}

static void cancel_leftover_tasks(void)
{
    COIL__LIST_EACH (link, &coil__scheduler.tasks) {
        coil_task *task = COIL__CONTAINER(link, coil_task, link);

        coil_task_retain(task)->leftover = true;
        coil__scheduler.leftover_count++;
        coil_task_cancel(task, "the main task ended");
    }
}

static bool anything_is_left(const coil_loop *loop)
{
    return !coil__list_empty(&loop->ready) || !coil__list_empty(&coil__scheduler.tasks);
}

/*
 * Run `count` turns of the loop, or fewer if neither tasks nor ready runnables are left.
 */
static int run_turns(coil_loop *loop, int count)
{
    int rc = 0;

    for (; rc == 0 && count > 0 && anything_is_left(loop); count--) {
        coil_loop_stop(loop); /* makes coil_loop_run_forever() return after one turn */
        rc = coil_loop_run_forever(loop);
    }
    return rc;
}

/*
 * Cancel the remaining tasks once, and wait for them. Tasks that are spawned in the
 * meantime are not cancelled, because cancelling would never end if each task spawned
 * another one. These new tasks can run for a few more turns, as many as in CPython:
 * there, the loop needs some turns to notice that the cancelled tasks have ended, and
 * some to shut down generators and threads. Any task that has not ended by then is
 * reported when the loop is closed.
 */
static int cancel_leftovers(coil_loop *loop)
{
    enum { TURNS_TO_HEAR = 2, TURNS_TO_SHUT_DOWN = 4 };
    int rc = 0, turns = TURNS_TO_SHUT_DOWN;

    if (coil__scheduler.hooked != loop)
        return 0;
    cancel_leftover_tasks();
    if (coil__scheduler.leftover_count > 0)
        turns += TURNS_TO_HEAR;
    while (rc == 0 && coil__scheduler.leftover_count > 0)
        rc = coil_loop_run_forever(loop);
    coil__scheduler.leftover_count = 0;
    release_leftovers();
    return rc < 0 ? rc : run_turns(loop, turns);
}

void coil_runner_close(coil_runner *runner)
{
    COIL__REQUIRE(runner, "a runner");
    if (runner->destroyed)
        coil__misuse_gone("coil_runner_close");
    if (runner->loop == NULL)
        return;
    if (coil__loop_is_parents(runner->loop)) {
        runner->loop = NULL;
        return;
    }
    if (cancel_leftovers(runner->loop) < 0)
        coil_call_exception_handler(
            &(coil_exception){.message = "The loop failed, so its tasks were abandoned"});
    if (runner->overflow_reported)
        coil__overflow_uninstall();
    coil_loop_close(runner->loop);
    runner->loop = NULL;
    coil_context_release(runner->context);
    coil__stack_shrink();
}

static void refuse_running_loop(const char *caller)
{
    coil__loop_forget_parents();
    coil__loop_check_handler(caller);
    if (coil__loop_of_thread != NULL && coil_loop_running(coil__loop_of_thread))
        coil__misuse("%s: called inside a running loop; spawn a task instead", caller);
}

/*
 * Report that no loop could be created. An unavailable backend is not reported here: if
 * the caller requested it, the caller can handle the error; if an environment variable
 * requested it, it has already been reported.
 */
static int report_no_loop(coil_runner *runner, int rc)
{
    runner->reported = rc == -EINVAL || rc == -ENOSYS;
    if (!runner->reported && runner->opts.error == NULL && !runner->opts.no_report)
        coil_default_exception_handler(
            &(coil_exception){.message = "Cannot create a loop", .rc = rc});
    return rc;
}

static int run_once(coil_runner *runner, coil_task_fn fn, void *arg,
                    const coil_run_opts *opts)
{
    int rc = open_runner(runner, opts);

    if (rc < 0)
        return report_no_loop(runner, rc);
    rc = run_main(runner, fn, arg);
    coil_runner_close(runner);
    return report_result(runner, rc);
}

int coil_run(coil_task_fn fn, void *arg, const coil_run_opts *opts)
{
    COIL__REQUIRE(fn, "a function");
    coil_runner runner = {.loop = NULL};

    refuse_running_loop("coil_run");
    return run_once(&runner, fn, arg, opts);
}

int coil__run_quietly(coil_task_fn fn, void *arg, const coil_run_opts *opts,
                      bool *reported)
{
    coil_runner runner = {.loop = NULL};
    int rc;

    refuse_running_loop("coil_run_threads");
    rc = run_once(&runner, fn, arg, opts);
    *reported = runner.reported;
    return rc;
}

int coil_runner_create(const coil_run_opts *opts, coil_runner **out)
{
    COIL__REQUIRE(out, "an output pointer");
    coil_runner *runner = coil__alloc_zeroed(sizeof *runner);
    int rc;

    *out = NULL;
    if (runner == NULL)
        return coil__failed(-ENOMEM);
    rc = open_runner(runner, opts);
    if (rc < 0) {
        coil__free(runner);
        return rc;
    }
    *out = runner;
    return 0;
}

COIL__NOINLINE int coil_runner_run(coil_runner *runner, coil_task_fn fn, void *arg)
{
    COIL__REQUIRE(runner, "a runner");
    COIL__REQUIRE(fn, "a function");
    int rc;

    if (runner->destroyed)
        coil__misuse_gone("coil_runner_run");
    refuse_running_loop("coil_runner_run");
    if (runner->loop == NULL)
        return coil__failed(-ESHUTDOWN);
    if (coil__loop_is_parents(runner->loop))
        coil__fork_misuse("coil_runner_run");
    if (runner->loop != coil__loop_of_thread)
        coil__misuse("coil_runner_run: the runner belongs to another thread");
    rc = run_main(runner, fn, arg);
    coil__failure_hand_on_error(runner->failure, rc, COIL__CALLER());
    return report_result(runner, rc);
}

coil_loop *coil_runner_loop(const coil_runner *runner)
{
    COIL__REQUIRE(runner, "a runner");
    return runner->loop;
}

void coil_runner_destroy(coil_runner *runner)
{
    if (runner == NULL)
        return;
    if (runner->destroyed)
        coil__misuse_gone("coil_runner_destroy");
    coil_runner_close(runner);
    runner->destroyed = true;
    coil__free_object(runner);
}
