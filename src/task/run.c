/*
 * run.c - from main() into coil and back: loop, main task, signals, cleaning up.
 *
 *   open_runner() --> run_main(), again and again --> coil_runner_close()
 *   loop, context     main task, Ctrl-C               leftovers, threads, loop
 *
 * coil_run() is a runner on the stack that runs once. (asyncio: runners.py)
 */
#include "above.h"
#include "task.h"

#include <coil/error.h>
#include <coil/run.h>

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
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

int coil_run_until_complete(coil_future *future)
{
    struct stopper stopper = {.loop = future->loop};
    int rc;

    coil__runnable_init(&stopper.runnable, stop_loop);
    coil_future_retain(future);
    coil__future_subscribe(future, &stopper.runnable);
    rc = coil_loop_run_forever(future->loop);
    coil__list_remove(&stopper.runnable.link);
    if (rc == 0)
        rc = coil__future_pending(future) ? -EDEADLK : coil__future_retrieve(future);
    coil_future_release(future);
    return rc;
}

/* ---- Ctrl-C ------------------------------------------------------------------------ */

/*
 * The handler only wakes the loop; SA_RESETHAND has restored the default by then, so the
 * second Ctrl-C ends the program whatever it is doing. So does one that comes when there
 * is no run any more, or in a forked child: a handler set during a run may have put ours
 * aside, and restored it since (os/signal_table.c).
 */
struct interruption {
    struct coil__runnable runnable;
    coil_task *main_task;
    struct sigaction previous;
    bool installed, happened;
};

static coil_loop *volatile interrupted_loop;

static void on_sigint(int signo)
{
    if (interrupted_loop != NULL && interrupted_loop->pid == getpid())
        coil__loop_interrupt(interrupted_loop);
    else
        raise(signo); /* delivered when the handler returns */
}

static void cancel_main(struct coil__runnable *runnable)
{
    struct interruption *i = COIL__CONTAINER(runnable, struct interruption, runnable);

    i->happened = coil_task_cancel(i->main_task, "interrupted by SIGINT");
}

static bool on_main_thread(void)
{
    return syscall(SYS_gettid) == getpid();
}

static void take_signals(struct interruption *i, coil_loop *loop)
{
    struct sigaction action = {.sa_handler = on_sigint,
                               .sa_flags = SA_RESETHAND | SA_RESTART};

    if (!on_main_thread() || sigaction(SIGINT, NULL, &i->previous) < 0)
        return;
    if (i->previous.sa_handler == on_sigint)
        i->previous = (struct sigaction){.sa_handler = SIG_DFL};
    if (i->previous.sa_handler != SIG_DFL)
        return;
    coil__runnable_init(&i->runnable, cancel_main);
    loop->on_interrupt = &i->runnable;
    interrupted_loop = loop;
    i->installed = sigaction(SIGINT, &action, NULL) == 0;
}

static void restore_signals(struct interruption *i, coil_loop *loop)
{
    struct sigaction now;

    if (!i->installed)
        return;
    if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == on_sigint)
        sigaction(SIGINT, &i->previous, NULL);
    interrupted_loop = NULL;
    loop->on_interrupt = NULL;
    coil__list_remove(&i->runnable.link);
}

/* ---- run --------------------------------------------------------------------------- */

struct coil_runner {
    coil_run_opts opts;
    char name[COIL__NAME_BYTES];
    coil_loop *loop; /* NULL once closed */
    coil_context *context;
    bool overflow_reported;
};

/* One that is all zeros but for its options. Nothing is left behind where it fails. */
static int open_runner(coil_runner *runner, const coil_run_opts *opts)
{
    int rc;

    if (opts != NULL)
        runner->opts = *opts;
    if (runner->opts.error != NULL)
        *runner->opts.error = NULL;
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
    return 0;
}

/* A reference, or NULL. */
static coil_error *error_of(const coil_future *future)
{
    coil_error *error = coil_future_error(future);

    return error != NULL ? coil_error_retain(error) : NULL;
}

static int run_main(coil_runner *runner, coil_task_fn fn, void *arg)
{
    size_t stack_bytes = runner->opts.stack_bytes;
    coil_spawn_opts spawn = {.name = runner->name,
                             .stack_bytes =
                                 stack_bytes != 0 ? stack_bytes : MAIN_STACK_BYTES,
                             .context = runner->context};
    struct interruption interruption = {.installed = false};
    bool quit_taken;
    int rc;

    rc = coil_spawn(fn, arg, &spawn, &interruption.main_task);
    if (rc < 0)
        return rc;
    interruption.main_task->spawned_at = NULL; /* by no code of the user's */
    if (!runner->opts.no_signals)
        take_signals(&interruption, runner->loop);
    quit_taken =
        !runner->opts.no_signals && on_main_thread() &&
        coil__quit_install(runner->loop, (const void *)fn, __builtin_frame_address(0));
    rc = coil_run_until_complete(&interruption.main_task->future);
    if (runner->opts.error != NULL)
        *runner->opts.error = error_of(&interruption.main_task->future);
    if (rc == -ECANCELED && interruption.happened &&
        coil__task_uncancel(interruption.main_task) == 0)
        rc = -EINTR;
    if (quit_taken)
        coil__quit_uninstall(runner->loop);
    restore_signals(&interruption, runner->loop);
    coil_task_release(interruption.main_task);
    return rc;
}

/* A failure is reported, whoever else may ask: their time is over. */
static void let_go_of_leftovers(struct coil__list *leftovers)
{
    struct coil__list *link;

    while ((link = coil__list_pop(leftovers)) != NULL) {
        coil_task *task = COIL__CONTAINER(link, coil_task, leftover_link);

        if (coil_future_get_state(&task->future) == COIL_FAILED)
            coil__future_report_unseen(&task->future,
                                       "unhandled exception during coil_run() shutdown");
        coil_task_release(task);
    }
}

/* Cancel what was left behind and wait for it, until nothing is left. */
static int cancel_leftovers(coil_loop *loop)
{
    struct coil__list leftovers;
    int rc = 0;

    coil__list_init(&leftovers);
    while (rc == 0 && coil__scheduler.hooked == loop &&
           !coil__list_empty(&coil__scheduler.tasks)) {
        COIL__LIST_EACH (link, &coil__scheduler.tasks) {
            coil_task *task = COIL__CONTAINER(link, coil_task, link);

            coil__list_push(&leftovers, &coil_task_retain(task)->leftover_link);
            coil_task_cancel(task, "the main task ended");
        }
        coil__scheduler.stop_when_empty = true;
        rc = coil_loop_run_forever(loop);
        coil__scheduler.stop_when_empty = false;
        let_go_of_leftovers(&leftovers);
    }
    return rc;
}

void coil_runner_close(coil_runner *runner)
{
    if (runner->loop == NULL)
        return;
    if (cancel_leftovers(runner->loop) < 0)
        coil_call_exception_handler(
            &(coil_exception){.message = "The loop failed: tasks are left behind"});
    if (runner->overflow_reported)
        coil__overflow_uninstall();
    coil_loop_close(runner->loop);
    runner->loop = NULL;
    coil_context_release(runner->context);
    coil__stack_drain();
}

static void refuse_running_loop(const char *caller)
{
    coil__loop_forget_parents();
    if (coil__loop_of_thread != NULL && coil_loop_running(coil__loop_of_thread))
        coil__misuse("%s: called inside a running loop; spawn a task instead", caller);
}

int coil_run(coil_task_fn fn, void *arg, const coil_run_opts *opts)
{
    coil_runner runner = {.loop = NULL};
    int rc;

    refuse_running_loop("coil_run");
    rc = open_runner(&runner, opts);
    if (rc < 0)
        return rc;
    rc = run_main(&runner, fn, arg);
    coil_runner_close(&runner);
    return rc;
}

int coil_runner_create(const coil_run_opts *opts, coil_runner **out)
{
    coil_runner *runner = coil__alloc_zeroed(sizeof *runner);
    int rc;

    if (runner == NULL)
        return -ENOMEM;
    rc = open_runner(runner, opts);
    if (rc < 0) {
        coil__free(runner);
        return rc;
    }
    *out = runner;
    return 0;
}

int coil_runner_run(coil_runner *runner, coil_task_fn fn, void *arg)
{
    refuse_running_loop("coil_runner_run");
    if (runner->loop == NULL)
        return -ESHUTDOWN;
    if (runner->loop != coil__loop_of_thread)
        coil__misuse("coil_runner_run: the runner is another thread's");
    return run_main(runner, fn, arg);
}

coil_loop *coil_runner_loop(const coil_runner *runner)
{
    return runner->loop;
}

void coil_runner_destroy(coil_runner *runner)
{
    if (runner == NULL)
        return;
    coil_runner_close(runner);
    coil__free(runner);
}
