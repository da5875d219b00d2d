/*
 * loop.c - the event loop and its turns.
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
 * 1. A runnable that becomes ready while a batch runs waits for the next turn. So timers
 *    and I/O are not starved by a task that keeps making itself ready, and runnables run
 *    in the order in which they became ready.
 * 2. The batch runs to its end, even after coil_loop_stop().
 * 3. A runnable is in at most one list. Cancelling removes it from that list, so the loop
 *    never has to skip cancelled runnables.
 *
 * A poll may wait for a timer longer than necessary, by up to the loop's slack, so that
 * timers that are due at almost the same time cost only one wake-up.
 *
 * A poll is a system call, and reading the clock takes time, too. So a busy loop skips
 * both. While runnables are ready, the loop polls only after 64 turns, 256 runnables or
 * 250 us, or, if it has neither a descriptor nor a timer, after 65,536 runnables. While
 * turns are short, most turns do not read the clock, either (is_poll_due()). If a task
 * has done a lot of I/O in one step, the next turn polls (task/budget.h). With a virtual
 * clock every turn polls, as in asyncio, unless skip_polls is set. Not every turn begins
 * in this file: if the batch is empty when a task is suspended, and no poll is due, the
 * task begins the turn itself, and switches directly to the next task (task.c).
 *
 * The loop never polls within a turn, even if the turn is long. So the order of events is
 * the same as in asyncio, where each turn polls once.
 */
#include "backend/backend.h"
#include "leak.h"
#include "loop.h"

#include "../base/probe.h"
#include "../coro/exceptions.h"
#include "../coro/light.h"

/* Limits for is_poll_due(). */
#define LONGEST_UNPOLLED COIL_USEC(250)
#define SHORT_TURN COIL_USEC(5)
#define READ_OFTEN_FOR COIL_SEC(1)
enum {
    TURNS_PER_READING_MAX = COIL__TURNS_UNPOLLED + 1,
    TURNS_AFTER_LONG_TURN = 8
}; /* turns */

COIL__THREAD_LOCAL coil_loop *coil__loop_of_thread;
COIL__THREAD_LOCAL uint32_t coil__loop_number_of_thread;
COIL__THREAD_LOCAL coil_loop *coil__loop_in_kernel;
const struct coil__loop_hooks *_Atomic coil__loop_hooks;

coil_loop *coil_loop_current(void)
{
    return coil__loop_of_thread;
}

/* ---- the clock --------------------------------------------------------------------- */

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

/* ---- polling ----------------------------------------------------------------------- */

/* Return how long to poll. Reads the clock only if a timer is armed. */
static int64_t poll_timeout(coil_loop *loop)
{
    int64_t next = coil__timers_next(&loop->timers), now;

    if (!coil__list_empty(&loop->ready) || !coil__list_empty(&loop->idle) ||
        loop->stopping || loop->guest)
        return 0;
    if (next == COIL_NEVER)
        return COIL_NEVER;
    now = coil__loop_now(loop);
    /*
     * The difference may overflow if `next` is centuries away and the clock is below 0.
     */
    return next > now
               ? coil__loop_wait_for(loop, next - now, loop->backend->waits_exactly)
               : 0;
}

/* True if only a post or a timer can end a wait. */
static bool waits_for_posts_only(const coil_loop *loop)
{
    return loop->backend->in_use == 0 && loop->backend->class->idles_without_use;
}

int coil__loop_poll(coil_loop *loop, int64_t timeout_ns)
{
    int rc = 0;

    if (loop->guest) { /* the host waits for the descriptor */
        coil__wakeup_begin_wait(&loop->wakeup, COIL__POLLS);
        return loop->backend->class->poll(loop->backend, timeout_ns);
    }
    if (timeout_ns > 0 && waits_for_posts_only(loop)) {
        coil__wakeup_wait(loop, timeout_ns);
    } else {
        if (timeout_ns > 0 && !coil__wakeup_begin_wait(&loop->wakeup, COIL__POLLS))
            timeout_ns = 0;
        rc = loop->backend->class->poll(loop->backend, timeout_ns);
    }
    coil__wakeup_end_wait(&loop->wakeup);
    return rc;
}

/*
 * Wait for an event, or return -EDEADLK if there can be none. Called when nothing is
 * ready and no timer is armed.
 */
static int poll_for_ever(coil_loop *loop)
{
    int rc = 0;
    int64_t timeout = coil__loop_longest_poll(loop, &rc);

    return rc < 0 ? rc : coil__loop_poll(loop, timeout);
}

/*
 * Advance the virtual clock to the next timer instead of waiting for it. Called when
 * nothing is ready.
 */
static int jump_to_next_timer(coil_loop *loop)
{
    int64_t next = coil__timers_next(&loop->timers);
    int rc = coil__loop_poll(loop, 0);

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

    if (COIL__UNLIKELY(loop->deadlock.lock_wait_count > 0) && timeout > 0)
        timeout = coil__loop_check_locks(loop, timeout);
    if (COIL__UNLIKELY(timeout < 0))
        return (int)timeout;
    if (loop->virtual_clock && timeout > 0)
        return jump_to_next_timer(loop);
    if (timeout == COIL_NEVER && loop->backend->in_use == 0)
        return poll_for_ever(loop);
    if (COIL__UNLIKELY(loop->debug) && timeout != COIL_NEVER)
        return coil__loop_poll_timed(loop, timeout);
    return coil__loop_poll(loop, timeout);
}

/* ---- reading the clock ------------------------------------------------------------- */

/*
 * Choose the number of turns until the next reading of the clock. The clock was just
 * read, `turns` turns after the previous reading. `turns` is 0 if the loop has waited in
 * between: in that case the time says nothing about turns. If a new timer has reset
 * `turns_per_reading` to 1, all turns count as one, because the last one may be long even
 * if the first ones were short.
 */
static void choose_turns_per_reading(coil_loop *loop, unsigned turns)
{
    int64_t took = loop->clock_read - loop->last_reading;
    unsigned counted = turns < loop->turns_per_reading ? turns : loop->turns_per_reading;
    bool long_turns = turns > 0 && took > counted * SHORT_TURN;
    unsigned most = TURNS_PER_READING_MAX;

    if (long_turns && counted == 1 && took > LONGEST_UNPOLLED)
        loop->read_often_until = coil__time_add(loop->clock_read, READ_OFTEN_FOR);
    if (loop->clock_read < loop->read_often_until)
        most = TURNS_AFTER_LONG_TURN;
    if (loop->virtual_clock)
        loop->turns_per_reading = coil__timers_count(&loop->timers) > 0 ? 1 : most;
    else if (turns > 0)
        loop->turns_per_reading = long_turns ? 1 : loop->turns_per_reading * 2;
    if (loop->turns_per_reading > most)
        loop->turns_per_reading = most;
    loop->last_reading = loop->clock_read;
}

/* Called when the loop is about to wait. */
static void release_unused_memory(coil_loop *loop)
{
    coil__light_idle(loop->clock_read);
    if (COIL__UNLIKELY(loop->clock_read >= loop->trim_at))
        coil__task_layer->trim(loop);
}

static int poll_and_expire(coil_loop *loop)
{
    bool waits = coil__list_empty(&loop->ready);
    unsigned turns = loop->turns_unpolled + 1 - loop->turns_at_reading;
    int64_t now;
    int rc;

    loop->polls++;
    loop->turns += loop->turns_unpolled + 1;
    loop->runs += loop->runs_unpolled;
    loop->turns_unpolled = loop->turns_at_reading = loop->runs_unpolled = 0;
    loop->poll_next = false;
    if (waits)
        release_unused_memory(loop);
    if (COIL__UNLIKELY(loop->trace != NULL))
        coil__trace_put_now(loop->trace, COIL__TRACE_POLL, 0, 0);
    COIL__PROBE1(poll_begin, loop->number);
    rc = poll_now(loop);
    COIL__PROBE1(poll_end, loop->number);
    if (coil__wakeup_pending(&loop->wakeup))
        coil__wakeup_collect(loop);
    now = coil__loop_now(loop);
    if (COIL__UNLIKELY(loop->trace != NULL || coil__trace_is_requested()))
        coil__trace_polled(loop);
    if (coil__timers_next(&loop->timers) <= now)
        coil__timers_expire(loop, now);
    choose_turns_per_reading(loop, waits ? 0 : turns);
    loop->polled_at = loop->clock_read;
    loop->next_reading = loop->turns_per_reading - 1;
    if (coil__list_empty(&loop->ready))
        coil__list_splice(&loop->ready, &loop->idle);
    return rc;
}

/*
 * Return true if the turn must poll: too many turns, runnables or microseconds have
 * passed without a poll, a task has requested a poll, or a timer is due.
 *
 * This function reads the clock, as asyncio does in each turn. In coil, reading the clock
 * takes longer than the shortest turns. So the function is called in the next turn only
 * if a new timer is the earliest, or if this turn took more than 5 us. While turns are
 * shorter, the function is called in every 2nd turn, then in every 4th, and so on up to
 * every 64th. If turns suddenly become long, up to 64 of them go unnoticed. For the next
 * second, the function is called in at least every 8th turn.
 */
static bool is_poll_due(coil_loop *loop)
{
    unsigned turns = loop->turns_unpolled + 1 - loop->turns_at_reading;
    bool in_use = loop->backend->in_use > 0;

    if (loop->poll_next || loop->runs_unpolled >= COIL__RUNS_UNPOLLED ||
        (in_use && loop->turns_unpolled >= COIL__TURNS_UNPOLLED))
        return true;
    coil__loop_now(loop);
    choose_turns_per_reading(loop, turns);
    loop->turns_at_reading += turns;
    loop->next_reading = loop->turns_unpolled + loop->turns_per_reading;
    return (in_use && loop->clock_read - loop->polled_at > LONGEST_UNPOLLED) ||
           coil__timers_next(&loop->timers) <= loop->clock_read;
}

/* ---- turns ------------------------------------------------------------------------- */

static bool begin_unpolled_turn(coil_loop *loop)
{
    return coil__loop_begin_unpolled_turn(loop) ||
           (!is_poll_due(loop) && coil__loop_begin_unpolled_turn(loop));
}

COIL__HOT COIL__NOINLINE int coil__loop_take_turn(coil_loop *loop)
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
        coil__loop_run(loop, runnable);
    }
    if (COIL__UNLIKELY(loop->trace != NULL) && (loop->stopping || loop->guest))
        coil__trace_turned(loop);
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
