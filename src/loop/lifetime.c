/*
 * lifetime.c - creates loops, closes them, and counts references to them.
 */
#include "backend/backend.h"
#include "leak.h"
#include "loop.h"
#include "registry.h"

#include "../error/error.h"
#include "../kernel/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USUAL_SLACK COIL_USEC(50)   /* the kernel's default for each thread */
#define LONGEST_DRAIN COIL_SEC(300) /* asyncio: THREAD_JOIN_TIMEOUT */

/* ---- options and environment ------------------------------------------------------- */

static bool is_debug_requested(void)
{
    const char *value = getenv("COIL_DEBUG");

    return value != NULL && *value != '\0' && strcmp(value, "0") != 0;
}

/*
 * Choose the format of reports with COIL_REPORTS. An unknown format is reported to the
 * exception handler, once per process.
 */
static void choose_reports(void)
{
    static atomic_bool reported;
    const char *format = getenv("COIL_REPORTS");
    char message[96];

    if (coil__report_choose(format) == 0 || atomic_exchange(&reported, true))
        return;
    snprintf(message, sizeof message, "COIL_REPORTS=%.20s: must be \"text\" or \"json\"",
             format);
    coil_call_exception_handler(&(coil_exception){.message = message});
}

static void set_slack(coil_loop *loop, int64_t wanted)
{
    int64_t threads = coil__thread_timer_slack();

    if (wanted < 0 || loop->virtual_clock)
        return;
    loop->slack = wanted == 0 ? USUAL_SLACK : wanted;
    if (loop->slack > COIL__LONGEST_POLL)
        loop->slack = COIL__LONGEST_POLL;
    if (loop->slack > threads)
        loop->slack_over_thread = loop->slack - threads;
}

static int init_loop(coil_loop *loop, const coil_loop_opts *opts)
{
    const struct coil__loop_hooks *hooks = coil__loop_hooks;
    int rc;

    coil__list_init(&loop->ready);
    coil__list_init(&loop->batch);
    coil__list_init(&loop->idle);
    coil__list_init(&loop->fork.put_aside);
    coil__list_init(&loop->close_hooks);
    coil__deadlock_init(&loop->deadlock);
    atomic_init(&loop->refs, 1);
    loop->pid = getpid();
    loop->thread = coil__thread_id_in(loop->pid);
    loop->coros = &coil__coro_thread;
    loop->number = coil__loops_number();
    loop->trim_at = COIL_NEVER;
    loop->drain_ns = LONGEST_DRAIN;
    loop->virtual_clock = opts != NULL && opts->virtual_clock;
    loop->may_skip_polls = !loop->virtual_clock || opts->skip_polls;
    set_slack(loop, opts != NULL ? opts->timer_slack_ns : 0);
    loop->polled_at = loop->last_reading = coil__loop_now(loop);
    coil__slow_init(&loop->slow);
    loop->turns_per_reading = 1;
    if (hooks != NULL)
        hooks->shuffle_begin(loop);
    coil__loop_set_debug(loop, (opts != NULL && opts->debug) || is_debug_requested());
    rc = coil__backend_create(loop, opts != NULL ? opts->backend : NULL);
    if (rc < 0)
        return rc;
    loop->descriptors = loop->backend->below != NULL ? &loop->backend->below->descriptors
                                                     : &loop->backend->descriptors;
    rc = coil__wakeup_init(loop);
    if (rc < 0)
        coil__backend_destroy(loop);
    return rc;
}

/* ---- creating ---------------------------------------------------------------------- */

void coil__loop_forget_parents(void)
{
    if (coil__loop_in_kernel != NULL && coil__loop_in_kernel->pid != getpid())
        coil__loop_in_kernel = NULL;
    if (coil__loop_of_thread != NULL && coil__loop_of_thread->pid != getpid())
        coil__loop_set_of_thread(NULL);
}

int coil_loop_create(const coil_loop_opts *opts, coil_loop **out)
{
    COIL__REQUIRE(out, "an output pointer");
    coil_loop *loop;
    int rc;

    *out = NULL;
    coil__loop_forget_parents();
    coil__loop_check_handler("coil_loop_create");
    if (coil__loop_of_thread != NULL)
        return coil__failed(-EBUSY);
    coil__fork_watch();
    loop = coil__alloc_zeroed(sizeof *loop);
    if (loop == NULL)
        return coil__failed(-ENOMEM);
    rc = init_loop(loop, opts);
    if (rc < 0) {
        coil__keep_freed_objects(false);
        coil__free(loop);
        return coil__failed(rc);
    }
    coil__misuse_report = coil__error_print_misuse;
    choose_reports();
    coil__loops_add(loop);
    coil__loop_set_of_thread(*out = loop);
    coil__trace_begin(loop);
    return 0;
}

/* ---- closing ----------------------------------------------------------------------- */

void coil__loop_add_close_hook(coil_loop *loop, struct coil__close_hook *hook)
{
    coil__list_push(&loop->close_hooks, &hook->link);
}

static void run_close_hooks(coil_loop *loop)
{
    while (!coil__list_empty(&loop->close_hooks)) {
        struct coil__list *last = loop->close_hooks.prev;

        coil__list_remove(last);
        COIL__CONTAINER(last, struct coil__close_hook, link)->closing(loop);
    }
}

/*
 * Run all ready runnables and all timers. Because the loop is closing, runnables only
 * free the objects to which they belong: see struct coil__runnable.
 */
static void drop_everything(coil_loop *loop)
{
    struct coil__list *link;

    coil__timers_expire(loop, COIL_NEVER);
    while ((link = coil__list_pop(&loop->ready)) != NULL) {
        struct coil__runnable *runnable =
            COIL__CONTAINER(link, struct coil__runnable, link);

        runnable->run(runnable);
    }
}

void coil_loop_close(coil_loop *loop)
{
    if (loop == NULL || coil__loop_is_parents(loop))
        return;
    coil__loop_require_own(loop, "coil_loop_close");
    if (loop->running)
        coil__misuse("coil_loop_close: the loop is running; stop it first");
    coil__wakeup_run_last(loop);
    coil__trace_end(loop);
    run_close_hooks(loop);
    coil__leak_report(loop);
    /* called again, because an exception handler may have created objects */
    run_close_hooks(loop);
    loop->closing = true;
    coil__loop_finish_debug(loop);
    coil__stall_finish(loop);
    coil__watches_finish(loop);
    coil__wakeup_finish(loop);
    drop_everything(loop);
    coil__backend_destroy(loop);
    coil__wakeup_close(loop);
    coil__timers_finish(loop);
    coil__loops_remove(loop);
    coil__loop_set_of_thread(NULL);
    coil__keep_freed_objects(false);
    coil_loop_release(loop);
}

/* ---- references -------------------------------------------------------------------- */

coil_loop *coil_loop_retain(coil_loop *loop)
{
    COIL__REQUIRE(loop, "a loop");
    if (atomic_fetch_add(&loop->refs, 1) == 0)
        coil__misuse_gone("coil_loop_retain");
    return loop;
}

void coil_loop_release(coil_loop *loop)
{
    unsigned before = loop != NULL ? atomic_fetch_sub(&loop->refs, 1) : 2;

    if (COIL__UNLIKELY(before == 0))
        coil__misuse_gone("coil_loop_release");
    if (before > 1)
        return;
    coil__wakeup_destroy(loop);
    coil__free(loop);
}
