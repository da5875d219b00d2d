/*
 * loop.c - the event loop: one turn after the other.
 *
 *            +-------------------------------------------------------------+
 *            |  poll           I/O that happened; wait if nothing is ready |
 *     turn   |  collect        what other threads posted                   |
 *            |  expire         timers that are due                         |
 *            |  ready -> batch what is ready now, and no more              |
 *            |  run the batch  first in, first out                         |
 *            +-------------------------------------------------------------+
 *
 * Invariants
 * 1. A runnable that becomes ready while a batch runs waits for the next turn. So a task
 *    that keeps making itself ready starves neither timers nor I/O, and runnables run in
 *    the order in which they became ready.
 * 2. The batch runs to its end, even after coil_loop_stop().
 * 3. A runnable is in at most one list. Cancelling removes it from that list, so lists
 *    never contain cancelled runnables that would have to be skipped.
 *
 * A poll that waits for a timer is given the loop's slack besides, so that timers due at
 * almost the same time cost one wake-up and not one each. No deadline is changed by it.
 *
 * A poll is a system call, and reading the clock is not free either. While runnables are
 * ready, polls are skipped: for up to 64 turns, 256 runnables or 250 us in a row, and
 * without limit while there is neither a descriptor nor a timer. Reading the clock is
 * skipped as well, as long as turns are short (look()). A task that has done much I/O in
 * one step makes the next turn poll (task/budget.h). With a virtual clock every turn
 * polls, as in asyncio, unless skip_polls is set. A turn without a poll need not begin in
 * this file: a task that suspends when the batch is empty begins the turn and switches to
 * the next task directly (task.c).
 *
 * A turn itself is never interrupted by a poll, however many runnables it has and however
 * long they take: the order of events is asyncio's, where a turn polls once.
 */
#include "backend.h"
#include "leak.h"
#include "loop.h"

#include "../coro/exceptions.h"
#include "../coro/light.h"
#include "../error/backtrace.h"
#include "../error/error.h"
#include "../kernel/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USUAL_SLACK COIL_USEC(50)   /* as the kernel's, for each thread */
#define LONGEST_DRAIN COIL_SEC(300) /* asyncio: THREAD_JOIN_TIMEOUT */

/* For look(). While turns are short, only polls read the clock. */
#define LONGEST_UNPOLLED COIL_USEC(250)
#define SHORT_TURN COIL_USEC(5)
#define WARY_FOR COIL_SEC(1)
enum { LOOK_EVERY_MOST = COIL__TURNS_UNPOLLED + 1, LOOK_EVERY_WARY = 8 }; /* turns */

COIL__THREAD_LOCAL coil_loop *coil__loop_of_thread;
COIL__THREAD_LOCAL uint32_t coil__loop_number_of_thread;
COIL__THREAD_LOCAL coil_loop *coil__loop_in_kernel;
const struct coil__loop_hooks *_Atomic coil__loop_hooks;

coil_loop *coil_loop_current(void)
{
    return coil__loop_of_thread;
}

void coil__loop_stop_handler(const char *caller)
{
    coil__misuse("%s: a signal handler called it; a handler may only set flags and write "
                 "to descriptors, see coil_signal_wait() and coil_add_signal_handler()",
                 caller);
}

void coil__loop_check_frames(const char *caller)
{
    if (coil__loop_of_thread->running &&
        coil__backtrace_in_handler((const void *)coil__loop_take_turn))
        coil__loop_stop_handler(caller);
}

void coil__loop_missing(const char *caller)
{
    coil__loop_check_handler(caller);
    if (coil__loop_of_parent != NULL)
        coil__fork_misuse(caller);
    coil__misuse("%s: this thread has no event loop", caller);
}

void coil__loop_require_own(const coil_loop *loop, const char *caller)
{
    if (COIL__LIKELY(loop == coil__loop_of_thread))
        return;
    coil__loop_check_handler(caller);
    if (coil__loop_is_parents(loop))
        coil__fork_misuse(caller);
    coil__misuse("%s: the loop is another thread's, or closed", caller);
}

COIL__NORETURN static void refuse_thread(const char *caller)
{
    coil__misuse("%s: it was called by a thread that is not its loop's; use coil_post()",
                 caller);
}

void coil__loop_wrong_thread(const coil_loop *loop, const char *caller)
{
    coil__loop_check_handler(caller);
    if (coil__loop_is_parents(loop))
        coil__fork_misuse(caller);
    refuse_thread(caller);
}

/* ---- the open loops ---------------------------------------------------------------- */

/*
 * The numbers of the open loops. A loop may have been freed, so something that it leaves
 * behind must tell whether it is open; and not its address, which the next loop may have.
 * There is no lock, since a child of fork(2) might find it held. If the array is full,
 * misuse of further loops is not detected.
 */
static _Atomic uint32_t open_loops[64]; /* 0: unused */
static _Atomic uint32_t last_number;

#define OPEN_MAX (sizeof open_loops / sizeof open_loops[0])

static void exchange_open(uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < OPEN_MAX; i++) {
        uint32_t expected = from;

        if (atomic_compare_exchange_strong(&open_loops[i], &expected, to))
            return;
    }
}

void coil__loops_forget(void)
{
    for (size_t i = 0; i < OPEN_MAX; i++)
        atomic_store(&open_loops[i], 0);
}

void coil__loop_check_foreign(uint32_t number, const char *caller)
{
    coil__loop_check_handler(caller);
    for (size_t i = 0; i < OPEN_MAX; i++)
        if (atomic_load(&open_loops[i]) == number)
            refuse_thread(caller);
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

/*
 * The default first, then what is used where that is forbidden. poll always works, so those
 * behind it are used only on request (docs/decisions/0007-epoll-by-default.md).
 */
static const struct coil__backend_class *const backends[] = {
    &coil__backend_epoll,
    &coil__backend_poll,
    &coil__backend_select,
    &coil__backend_io_uring,
};

#define BACKEND_COUNT (sizeof backends / sizeof backends[0])

#define SIMULATED "simulated" /* the backend of libcoil-testing */

static const struct coil__backend_class *class_of(const char *name)
{
    const struct coil__loop_hooks *hooks = coil__loop_hooks;

    for (size_t i = 0; i < BACKEND_COUNT; i++)
        if (strcmp(name, backends[i]->name) == 0)
            return backends[i];
    return hooks != NULL && strcmp(name, SIMULATED) == 0 ? hooks->backend : NULL;
}

/* -EINVAL if no backend has that name. */
static int create_by_name(coil_loop *loop, const char *name)
{
    const struct coil__backend_class *class = class_of(name);

    return class != NULL ? class->create(&loop->backend) : coil__failed(-EINVAL);
}

/* "epoll, poll", and so on. */
static const char *list_backends(char *names, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < BACKEND_COUNT && n < size; i++)
        n += (size_t)snprintf(names + n, size - n, "%s%s", i > 0 ? ", " : "",
                              backends[i]->name);
    return names;
}

/*
 * A failure of the backend named by the environment is reported to the exception handler:
 * the cause cannot be found in the program's code. A backend that reads environment
 * variables of its own has reported a wrong value itself, and returned -EINVAL.
 */
static int refuse_environment(const char *name, int rc)
{
    char message[160], names[64];
    bool unknown = class_of(name) == NULL;
    const char *format = "COIL_BACKEND=%.20s: it cannot be used here";

    if (rc == -EINVAL && !unknown)
        return rc;
    if (unknown && strcmp(name, SIMULATED) == 0)
        format = "COIL_BACKEND=%.20s: it is libcoil-testing's, which this program is not "
                 "linked with, or has called no function of";
    else if (unknown)
        format =
            "COIL_BACKEND=%.20s: there are %s and, to simulate a network, " SIMULATED;
    snprintf(message, sizeof message, format, name, list_backends(names, sizeof names));
    coil_call_exception_handler(&(coil_exception){.message = message, .rc = rc});
    return rc;
}

static int create_first_that_works(coil_loop *loop)
{
    int rc = -ENOSYS;

    for (size_t i = 0; i < BACKEND_COUNT && rc == -ENOSYS; i++)
        rc = backends[i]->create(&loop->backend);
    return rc;
}

/* Create the requested backend; without a request, the first that works. */
static int create_backend(coil_loop *loop, const char *name)
{
    const struct coil__loop_hooks *hooks = coil__loop_hooks;
    int rc;

    if (name == NULL && hooks != NULL && hooks->backend_is_wanted())
        name = SIMULATED;
    if (name != NULL && *name != '\0')
        return create_by_name(loop, name);
    if (name == NULL)
        name = getenv("COIL_BACKEND");
    if (name == NULL || *name == '\0')
        return create_first_that_works(loop);
    rc = create_by_name(loop, name);
    return rc < 0 ? refuse_environment(name, rc) : 0;
}

/* The table of descriptors is freed last: destroying the backend reads it. */
static void destroy_backend(coil_loop *loop)
{
    struct coil__descriptors all = *loop->descriptors;

    loop->backend->class->destroy(loop->backend);
    coil__descriptors_finish(&all);
}

static bool debug_asked_for(void)
{
    const char *asked = getenv("COIL_DEBUG");

    return asked != NULL && *asked != '\0' && strcmp(asked, "0") != 0;
}

/* An unknown format is reported to the exception handler once per process. */
static void choose_reports(void)
{
    static atomic_bool told;
    const char *format = getenv("COIL_REPORTS");
    char message[96];

    if (coil__report_choose(format) == 0 || atomic_exchange(&told, true))
        return;
    snprintf(message, sizeof message, "COIL_REPORTS=%.20s: there are text and json",
             format);
    coil_call_exception_handler(&(coil_exception){.message = message});
}

static void set_slack(coil_loop *loop, int64_t asked)
{
    int64_t threads = coil__thread_timer_slack();

    if (asked < 0 || loop->virtual_clock)
        return;
    loop->slack = asked == 0 ? USUAL_SLACK : asked;
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
    atomic_init(&loop->refs, 1);
    loop->pid = getpid();
    loop->number = atomic_fetch_add(&last_number, 1) + 1;
    loop->drain_ns = LONGEST_DRAIN;
    loop->virtual_clock = opts != NULL && opts->virtual_clock;
    loop->may_skip_polls = !loop->virtual_clock || opts->skip_polls;
    set_slack(loop, opts != NULL ? opts->timer_slack_ns : 0);
    loop->polled_at = loop->looked_at = coil__loop_now(loop);
    coil__slow_init(&loop->slow);
    loop->look_every = 1;
    if (hooks != NULL)
        hooks->shuffle_begin(loop);
    coil__loop_set_debug(loop, (opts != NULL && opts->debug) || debug_asked_for());
    rc = create_backend(loop, opts != NULL ? opts->backend : NULL);
    if (rc < 0)
        return rc;
    loop->descriptors = loop->backend->below != NULL ? &loop->backend->below->descriptors
                                                     : &loop->backend->descriptors;
    rc = coil__wakeup_init(loop);
    if (rc < 0)
        destroy_backend(loop);
    return rc;
}

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
    exchange_open(0, loop->number);
    coil__loop_set_of_thread(*out = loop);
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

/* Runnables that are ready or timed are dropped; see struct coil__runnable. */
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
    run_close_hooks(loop);
    coil__leak_report(loop);
    run_close_hooks(loop); /* of what the exception handler has made meanwhile */
    loop->closing = true;
    coil__loop_finish_debug(loop);
    coil__stall_finish(loop);
    coil__watches_finish(loop);
    coil__wakeup_finish(loop);
    drop_everything(loop);
    destroy_backend(loop);
    coil__wakeup_close(loop);
    coil__timers_finish(loop);
    exchange_open(loop->number, 0);
    coil__loop_set_of_thread(NULL);
    coil__keep_freed_objects(false);
    coil_loop_release(loop);
}

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

/* ---- turns ------------------------------------------------------------------------- */

/* How long to poll. Reads the clock only if a timer is armed. */
static int64_t poll_timeout(coil_loop *loop)
{
    int64_t next = coil__timers_next(&loop->timers), now;

    if (!coil__list_empty(&loop->ready) || !coil__list_empty(&loop->idle) ||
        loop->stopping || loop->guest)
        return 0;
    if (next == COIL_NEVER)
        return COIL_NEVER;
    now = coil__loop_now(loop);
    /* `next` may be centuries away and the clock below 0: the difference may overflow. */
    return next > now
               ? coil__loop_wait_for(loop, next - now, loop->backend->waits_exactly)
               : 0;
}

/* Nothing is ready, and no timer is armed. */
static int poll_for_ever(coil_loop *loop)
{
    int rc = 0;
    int64_t timeout = coil__loop_longest_poll(loop, &rc);

    return rc < 0 ? rc : loop->backend->class->poll(loop->backend, timeout);
}

/* Nothing is ready: set the virtual clock to the next timer instead of waiting for it. */
static int jump_to_next_timer(coil_loop *loop)
{
    int64_t next = coil__timers_next(&loop->timers);
    int rc = loop->backend->class->poll(loop->backend, 0);

    if (rc < 0 || !coil__list_empty(&loop->ready) || coil__wakeup_pending(&loop->wakeup))
        return rc;
    if (coil__deadlock_expects(&loop->deadlock) || next == COIL_NEVER)
        return poll_for_ever(loop);
    if (next > loop->virtual_now)
        loop->virtual_now = next;
    return 0;
}

static int poll_now(coil_loop *loop)
{
    int64_t timeout = poll_timeout(loop);

    if (loop->virtual_clock && timeout > 0)
        return jump_to_next_timer(loop);
    if (timeout == COIL_NEVER && loop->backend->in_use == 0)
        return poll_for_ever(loop);
    if (COIL__UNLIKELY(loop->debug) && timeout != COIL_NEVER)
        return coil__loop_poll_timed(loop, timeout);
    return loop->backend->class->poll(loop->backend, timeout);
}

/*
 * The clock was read, `turns` turns after the last time; 0 if that time tells nothing
 * about turns. Choose the number of turns until the next look at the clock. Of more turns
 * than were to pass (a timer was started meanwhile) the first ones may have been short.
 */
static void choose_look_every(coil_loop *loop, unsigned turns)
{
    int64_t took = loop->clock_read - loop->looked_at;
    unsigned counted = turns < loop->look_every ? turns : loop->look_every;
    bool long_turns = turns > 0 && took > counted * SHORT_TURN;
    unsigned most = LOOK_EVERY_MOST;

    if (long_turns && counted == 1 && took > LONGEST_UNPOLLED)
        loop->wary_until = coil__time_add(loop->clock_read, WARY_FOR);
    if (loop->clock_read < loop->wary_until)
        most = LOOK_EVERY_WARY;
    if (loop->virtual_clock)
        loop->look_every = coil__timers_count(&loop->timers) > 0 ? 1 : most;
    else if (turns > 0)
        loop->look_every = long_turns ? 1 : loop->look_every * 2;
    if (loop->look_every > most)
        loop->look_every = most;
    loop->looked_at = loop->clock_read;
}

static int poll_and_expire(coil_loop *loop)
{
    bool waits = coil__list_empty(&loop->ready);
    unsigned turns = loop->turns_unpolled + 1 - loop->turns_looked;
    int rc;

    loop->polls++;
    loop->turns += loop->turns_unpolled + 1;
    loop->runs += loop->runs_unpolled;
    loop->turns_unpolled = loop->turns_looked = loop->runs_unpolled = 0;
    loop->poll_next = false;
    if (waits)
        coil__light_idle(loop->clock_read);
    rc = poll_now(loop);
    if (coil__wakeup_pending(&loop->wakeup))
        coil__wakeup_collect(loop);
    coil__timers_expire(loop, coil__loop_now(loop));
    choose_look_every(loop, waits ? 0 : turns);
    loop->polled_at = loop->clock_read;
    loop->next_look = loop->look_every - 1;
    if (coil__list_empty(&loop->ready))
        coil__list_splice(&loop->ready, &loop->idle);
    return rc;
}

/*
 * A turn without a poll may begin with a look at the clock. asyncio looks in each turn;
 * here a look would take longer than the shortest turns. So the next turn looks after a
 * timer was started that is the first one due, and after a turn that took more than 5 us;
 * while turns are shorter, every 2nd turn looks, then every 4th, ... 64th. If turns become
 * long suddenly, up to 64 of them pass unnoticed; for a second after that, every 8th turn
 * looks. Returns true if the turn must poll: because enough turns, runnables or time went
 * without a poll, because a task asked for it, or because a timer is due.
 */
static bool look(coil_loop *loop)
{
    unsigned turns = loop->turns_unpolled + 1 - loop->turns_looked;
    bool in_use = loop->backend->in_use > 0;

    if (loop->poll_next || loop->runs_unpolled >= COIL__RUNS_UNPOLLED ||
        (in_use && loop->turns_unpolled >= COIL__TURNS_UNPOLLED))
        return true;
    coil__loop_now(loop);
    choose_look_every(loop, turns);
    loop->turns_looked += turns;
    loop->next_look = loop->turns_unpolled + loop->look_every;
    return (in_use && loop->clock_read - loop->polled_at > LONGEST_UNPOLLED) ||
           coil__timers_next(&loop->timers) <= loop->clock_read;
}

static bool begin_unpolled_turn(coil_loop *loop)
{
    return coil__loop_begin_unpolled_turn(loop) ||
           (!look(loop) && coil__loop_begin_unpolled_turn(loop));
}

COIL__NOINLINE int coil__loop_take_turn(coil_loop *loop)
{
    struct coil__list *link;
    int rc = 0;

    COIL__STOP_EXCEPTIONS(coil__exceptions_stop_callback);
    loop->running = true;
    if (coil__list_empty(&loop->ready) || !begin_unpolled_turn(loop)) {
        rc = poll_and_expire(loop);
        coil__list_splice(&loop->batch, &loop->ready);
        if (COIL__UNLIKELY(loop->shuffle != 0))
            atomic_load_explicit(&coil__loop_hooks, memory_order_relaxed)->shuffle(loop);
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
    COIL__REQUIRE(loop, "a loop");
    int rc = 0;

    coil__loop_require_own(loop, "coil_loop_run_forever");
    if (loop->running)
        return coil__failed(-EBUSY);
    do
        rc = coil__loop_take_turn(loop);
    while (rc == 0 && !loop->stopping);
    loop->stopping = false;
    return (int)coil__result(rc);
}

void coil_loop_stop(coil_loop *loop)
{
    COIL__REQUIRE(loop, "a loop");
    coil__loop_require_own(loop, "coil_loop_stop");
    loop->stopping = true;
}

bool coil_loop_running(const coil_loop *loop)
{
    COIL__REQUIRE(loop, "a loop");
    return loop->running;
}
