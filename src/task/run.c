/*
 * run.c - from main() into coil and back: loop, main task, signals, cleaning up.
 *
 * (asyncio: runners.py)
 */
#include "task.h"

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
 * second Ctrl-C ends the program whatever it is doing.
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
    (void)signo;
    if (interrupted_loop != NULL)
        coil__loop_interrupt(interrupted_loop);
}

static void cancel_main(struct coil__runnable *runnable)
{
    struct interruption *i = COIL__CONTAINER(runnable, struct interruption, runnable);

    i->happened = true;
    coil_task_cancel(i->main_task, "interrupted by SIGINT");
}

static bool on_main_thread(void)
{
    return syscall(SYS_gettid) == getpid();
}

static void take_signals(struct interruption *i, coil_loop *loop)
{
    struct sigaction action = {.sa_handler = on_sigint,
                               .sa_flags = SA_RESETHAND | SA_RESTART};

    if (!on_main_thread() || sigaction(SIGINT, NULL, &i->previous) < 0 ||
        i->previous.sa_handler != SIG_DFL)
        return;
    coil__runnable_init(&i->runnable, cancel_main);
    loop->on_interrupt = &i->runnable;
    interrupted_loop = loop;
    i->installed = sigaction(SIGINT, &action, NULL) == 0;
}

static void restore_signals(struct interruption *i, coil_loop *loop)
{
    if (!i->installed)
        return;
    sigaction(SIGINT, &i->previous, NULL);
    interrupted_loop = NULL;
    loop->on_interrupt = NULL;
    coil__list_remove(&i->runnable.link);
}

/* ---- run --------------------------------------------------------------------------- */

/*
 * Cancel what the main task left behind and wait for it, until nothing is left. Failures
 * are reported, whoever else may ask: their time is over.
 */
static int cancel_leftovers(coil_loop *loop)
{
    int rc = 0;

    while (rc == 0 && !coil__list_empty(&coil__scheduler.tasks)) {
        COIL__LIST_EACH (link, &coil__scheduler.tasks) {
            coil_task *task = COIL__CONTAINER(link, coil_task, link);

            task->future.leftover = true;
            coil_task_cancel(task, "the main task ended");
        }
        coil__scheduler.stop_when_empty = true;
        rc = coil_loop_run_forever(loop);
        coil__scheduler.stop_when_empty = false;
    }
    return rc;
}

static int run_main(coil_loop *loop, coil_task_fn fn, void *arg,
                    const coil_run_opts *opts)
{
    coil_spawn_opts spawn = {.name = opts->name != NULL ? opts->name : "main",
                             .stack_bytes = opts->stack_bytes != 0 ? opts->stack_bytes
                                                                   : MAIN_STACK_BYTES};
    struct interruption interruption = {.installed = false};
    int rc;

    rc = coil_spawn(fn, arg, &spawn, &interruption.main_task);
    if (rc < 0)
        return rc;
    if (!opts->no_signals)
        take_signals(&interruption, loop);
    rc = coil_run_until_complete(&interruption.main_task->future);
    if (rc == -ECANCELED && interruption.happened &&
        coil__task_uncancel(interruption.main_task) == 0)
        rc = -EINTR;
    if (cancel_leftovers(loop) < 0)
        coil_call_exception_handler(
            &(coil_exception){.message = "The loop failed: tasks are left behind"});
    restore_signals(&interruption, loop);
    coil_task_release(interruption.main_task);
    return rc;
}

int coil_run(coil_task_fn fn, void *arg, const coil_run_opts *opts)
{
    static const coil_run_opts defaults;
    bool overflow_reported = false;
    coil_loop *loop;
    int rc;

    coil__loop_forget_parents();
    loop = coil_loop_current();
    if (opts == NULL)
        opts = &defaults;
    if (loop != NULL && coil_loop_running(loop))
        coil__misuse("coil_run: called inside a running loop; spawn a task instead");
    rc = coil_loop_create(&opts->loop, &loop);
    if (rc < 0)
        return rc;
    if (!opts->no_signals && on_main_thread())
        overflow_reported = coil__overflow_install();
    rc = run_main(loop, fn, arg, opts);
    if (overflow_reported)
        coil__overflow_uninstall();
    coil_loop_close(loop);
    coil__stack_drain();
    return rc;
}
