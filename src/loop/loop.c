/*
 * loop.c - one turn after the other.
 *
 *            +------------------------------------------------------------+
 *            |  poll           I/O that happened; wait if nothing is ready |
 *     turn   |  collect        what other threads posted                   |
 *            |  expire         timers that are due                         |
 *            |  ready -> batch what is ready now, and no more              |
 *            |  run the batch  first in, first out                         |
 *            +------------------------------------------------------------+
 *
 * Invariants
 * 1. What becomes ready while a batch runs waits for the next turn. So a task that keeps
 *    making itself ready starves neither timers nor I/O, and the order in which things
 * run is the order in which they became ready.
 * 2. The batch runs to its end, stop or not.
 * 3. A runnable is in one list at most. Cancelling takes it out of whichever it is in, so
 *    nothing that was cancelled is ever skipped over.
 *
 * Polling is a system call, and reading the clock is not free either. While callbacks are
 * ready both are skipped, up to 64 turns or 256 callbacks in a row, and altogether while
 * there is neither descriptor nor timer. A virtual clock is exempt, unless skip_polls was
 * asked for: there every turn is asyncio's. A turn without a poll need not even begin
 * here: a task that waits begins it, if the batch is done, and goes straight to the next
 * task (task.c).
 */
#include "loop.h"

#include "../error/error.h"
#include "backend/simulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_POLL COIL_SEC(24 * 3600)
#define LONGEST_DRAIN COIL_SEC(300) /* asyncio: THREAD_JOIN_TIMEOUT */

COIL__THREAD_LOCAL coil_loop *coil__loop_of_thread;

coil_loop *coil_loop_current(void)
{
    return coil__loop_of_thread;
}

void coil__loop_missing(const char *caller)
{
    coil__misuse("%s: this thread has no event loop", caller);
}

void coil__loop_require_own(const coil_loop *loop, const char *caller)
{
    if (COIL__UNLIKELY(loop != coil__loop_of_thread))
        coil__misuse("%s: the loop is another thread's, or closed", caller);
}

int64_t coil__loop_now(coil_loop *loop)
{
    loop->clock_read = loop->virtual_clock ? loop->virtual_now : coil__clock_monotonic();
    return loop->clock_read;
}

int64_t coil_now(void)
{
    return coil__loop_of_thread != NULL ? coil__loop_now(coil__loop_of_thread)
                                        : coil__clock_monotonic();
}

int64_t coil_in(int64_t span_ns)
{
    return coil__time_add(coil_now(), span_ns);
}

const char *coil_backend_name(void)
{
    return coil__loop_of_thread != NULL ? coil__loop_of_thread->backend->class->name
                                        : NULL;
}

/* ---- creating and closing ---------------------------------------------------------- */

/* clang-format off */
/* Best first; the last is never taken unasked, since select always works. */
static const struct coil__backend_class *const backends[] = {
    &coil__backend_io_uring,
    &coil__backend_epoll,
    &coil__backend_poll,
    &coil__backend_select,
    &coil__backend_simulated,
};
/* clang-format on */

#define BACKEND_COUNT (sizeof backends / sizeof backends[0])

/* What was asked for by the environment fails aloud: nobody looks for it in the code. */
static int refuse_environment(const char *name, int rc)
{
    char message[160];

    snprintf(message, sizeof message,
             rc == -EINVAL ? "COIL_BACKEND=%.20s: there are io_uring, epoll, poll, "
                             "select and, to simulate a network, simulated"
                           : "COIL_BACKEND=%.20s: it cannot be used here",
             name);
    coil_call_exception_handler(&(coil_exception){.message = message, .rc = rc});
    return rc;
}

/* -EINVAL where there is none of that name. */
static int create_by_name(const char *name, struct coil__backend **out)
{
    for (size_t i = 0; i < BACKEND_COUNT; i++)
        if (strcmp(name, backends[i]->name) == 0)
            return backends[i]->create(out);
    return -EINVAL;
}

static int create_first_that_works(struct coil__backend **out)
{
    int rc = -ENOSYS;

    for (size_t i = 0; i < BACKEND_COUNT && rc == -ENOSYS; i++)
        rc = backends[i]->create(out);
    return rc;
}

/* The one that was asked for, or the first that works. */
static int create_backend(const char *name, struct coil__backend **out)
{
    int rc;

    if (name == NULL && coil__network_asked_for() != NULL)
        name = coil__backend_simulated.name;
    if (name != NULL && *name != '\0')
        return create_by_name(name, out);
    if (name == NULL)
        name = getenv("COIL_BACKEND");
    if (name == NULL || *name == '\0')
        return create_first_that_works(out);
    rc = create_by_name(name, out);
    return rc < 0 ? refuse_environment(name, rc) : 0;
}

static bool debug_asked_for(void)
{
    const char *asked = getenv("COIL_DEBUG");

    return asked != NULL && *asked != '\0' && strcmp(asked, "0") != 0;
}

static int init_loop(coil_loop *loop, const coil_loop_opts *opts)
{
    int rc;

    coil__list_init(&loop->ready);
    coil__list_init(&loop->batch);
    coil__list_init(&loop->idle);
    coil__list_init(&loop->close_hooks);
    atomic_init(&loop->refs, 1);
    loop->pid = getpid();
    loop->drain_ns = LONGEST_DRAIN;
    loop->virtual_clock = opts != NULL && opts->virtual_clock;
    loop->may_skip_polls = !loop->virtual_clock || opts->skip_polls;
    coil__loop_now(loop);
    loop->slow_ns = COIL__SLOW_NS;
    coil__loop_set_debug(loop, (opts != NULL && opts->debug) || debug_asked_for());
    coil__shuffle_init(loop);
    rc = create_backend(opts != NULL ? opts->backend : NULL, &loop->backend);
    if (rc < 0)
        return rc;
    rc = coil__wakeup_init(loop);
    if (rc < 0)
        loop->backend->class->destroy(loop->backend);
    return rc;
}

void coil__loop_forget_parents(void)
{
    if (coil__loop_of_thread != NULL && coil__loop_of_thread->pid != getpid())
        coil__loop_of_thread = NULL;
}

int coil_loop_create(const coil_loop_opts *opts, coil_loop **out)
{
    coil_loop *loop;
    int rc;

    coil__loop_forget_parents();
    if (coil__loop_of_thread != NULL)
        return -EBUSY;
    loop = coil__alloc_zeroed(sizeof *loop);
    if (loop == NULL)
        return -ENOMEM;
    rc = init_loop(loop, opts);
    if (rc < 0) {
        coil__free(loop);
        return rc;
    }
    coil__misuse_detail = coil__error_print_here;
    coil__loop_of_thread = *out = loop;
    return 0;
}

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

/* What is ready, or timed, will not be called; see struct coil__runnable. */
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
    if (loop == NULL)
        return;
    coil__loop_require_own(loop, "coil_loop_close");
    if (loop->running)
        coil__misuse("coil_loop_close: the loop is running; stop it first");
    run_close_hooks(loop);
    loop->closing = true;
    coil__watches_finish(loop);
    coil__wakeup_finish(loop);
    drop_everything(loop);
    loop->backend->class->destroy(loop->backend);
    close(loop->wakeup_fd);
    coil__free(loop->timers.entries);
    coil__loop_of_thread = NULL;
    coil_loop_release(loop);
}

coil_loop *coil_loop_retain(coil_loop *loop)
{
    atomic_fetch_add(&loop->refs, 1);
    return loop;
}

void coil_loop_release(coil_loop *loop)
{
    if (loop == NULL || atomic_fetch_sub(&loop->refs, 1) != 1)
        return;
    pthread_mutex_destroy(&loop->posts_lock);
    coil__free(loop);
}

/* ---- turns ------------------------------------------------------------------------- */

static int64_t poll_timeout(coil_loop *loop, int64_t now)
{
    int64_t next = coil__timers_next(loop);

    if (!coil__list_empty(&loop->ready) || loop->stopping || loop->guest)
        return 0;
    if (next == COIL_NEVER)
        return COIL_NEVER;
    if (next <= now)
        return 0;
    /* Not further than a day: `next` may be centuries off, and now below 0. */
    return next - now < LONGEST_POLL && next - now > 0 ? next - now : LONGEST_POLL;
}

/* Nothing is timed. */
static int poll_for_ever(coil_loop *loop)
{
    int rc = 0;
    int64_t timeout = coil__loop_longest_poll(loop, &rc);

    return rc < 0 ? rc : loop->backend->class->poll(loop->backend, timeout);
}

/* Nothing is ready: instead of waiting for the next timer, go there. */
static int jump_to_next_timer(coil_loop *loop)
{
    int64_t next = coil__timers_next(loop);
    int rc = loop->backend->class->poll(loop->backend, 0);

    if (rc < 0 || !coil__list_empty(&loop->ready) || coil__wakeup_pending(loop))
        return rc;
    if (loop->outside_work > 0 || next == COIL_NEVER)
        return poll_for_ever(loop);
    if (next > loop->virtual_now)
        loop->virtual_now = next;
    return 0;
}

static int poll_now(coil_loop *loop, int64_t timeout)
{
    if (loop->virtual_clock && timeout > 0)
        return jump_to_next_timer(loop);
    if (timeout == COIL_NEVER)
        return poll_for_ever(loop);
    if (COIL__UNLIKELY(loop->debug))
        return coil__loop_poll_timed(loop, timeout);
    return loop->backend->class->poll(loop->backend, timeout);
}

static int poll_and_expire(coil_loop *loop)
{
    int64_t timeout = 0;
    int rc;

    loop->polls++;
    loop->turns += loop->turns_unpolled + 1;
    loop->runs += loop->runs_unpolled;
    loop->turns_unpolled = loop->runs_unpolled = 0;
    if (coil__list_empty(&loop->ready) && coil__list_empty(&loop->idle) &&
        !loop->stopping)
        timeout = poll_timeout(loop, coil__loop_now(loop));
    rc = poll_now(loop, timeout);
    if (coil__wakeup_pending(loop))
        coil__wakeup_collect(loop);
    coil__timers_expire(loop, coil__loop_now(loop));
    if (coil__list_empty(&loop->ready))
        coil__list_splice(&loop->ready, &loop->idle);
    return rc;
}

int coil__loop_take_turn(coil_loop *loop)
{
    struct coil__list *link;
    int rc = 0;

    loop->running = true;
    if (!coil__loop_begin_unpolled_turn(loop)) {
        rc = poll_and_expire(loop);
        coil__list_splice(&loop->batch, &loop->ready);
        if (COIL__UNLIKELY(loop->shuffle != 0))
            coil__shuffle_batch(loop);
        if (COIL__UNLIKELY(loop->debug))
            coil__loop_run_timed(loop);
    }
    while ((link = coil__list_pop(&loop->batch)) != NULL) {
        struct coil__runnable *runnable =
            COIL__CONTAINER(link, struct coil__runnable, link);

        loop->runs_unpolled++;
        runnable->run(runnable);
    }
    loop->running = false;
    return rc;
}

int coil_loop_run_forever(coil_loop *loop)
{
    int rc = 0;

    coil__loop_require_own(loop, "coil_loop_run_forever");
    if (loop->running)
        return -EBUSY;
    do
        rc = coil__loop_take_turn(loop);
    while (rc == 0 && !loop->stopping);
    loop->stopping = false;
    return rc;
}

void coil_loop_stop(coil_loop *loop)
{
    coil__loop_require_own(loop, "coil_loop_stop");
    loop->stopping = true;
}

bool coil_loop_running(const coil_loop *loop)
{
    return loop->running;
}
