/*
 * registry.c - the open loops of the process; aborts if a loop is used on another thread,
 * in a signal handler, or after a fork.
 */
#include "registry.h"

#include "loop.h"

#include "../coro/outside.h"
#include "../error/backtrace.h"

#include <stdatomic.h>

/*
 * The numbers of the open loops. An object that may outlive its loop stores the loop's
 * number, because a later loop may have the same address. The entries are atomic instead
 * of protected by a lock, because a child of fork(2) might inherit a held lock. If the
 * array is full, misuse of further loops is not detected.
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

uint32_t coil__loops_number(void)
{
    return atomic_fetch_add(&last_number, 1) + 1;
}

void coil__loops_add(coil_loop *loop)
{
    exchange_open(0, loop->number);
    coil__outside_add_loop(loop);
}

void coil__loops_remove(coil_loop *loop)
{
    coil__outside_remove_loop(loop);
    exchange_open(loop->number, 0);
}

void coil__loops_forget(void)
{
    for (size_t i = 0; i < OPEN_MAX; i++)
        atomic_store(&open_loops[i], 0);
    coil__outside_forget_loops();
}

COIL__OUTSIDE(COIL__OUTSIDE_AT(COIL__AT_LOOP_PID, coil_loop, pid),
              COIL__OUTSIDE_AT(COIL__AT_LOOP_THREAD, coil_loop, thread),
              COIL__OUTSIDE_AT(COIL__AT_LOOP_NUMBER, coil_loop, number),
              COIL__OUTSIDE_AT(COIL__AT_LOOP_SCHEDULER, coil_loop, scheduler),
              COIL__OUTSIDE_AT(COIL__AT_LOOP_CLOCK_READ, coil_loop, clock_read),
              COIL__OUTSIDE_AT(COIL__AT_LOOP_IS_VIRTUAL, coil_loop, virtual_clock),
              COIL__OUTSIDE_AT(COIL__AT_LOOP_VIRTUAL_NOW, coil_loop, virtual_now),
              COIL__OUTSIDE_AT(COIL__AT_LOOP_CORO_THREAD, coil_loop, coros),
              COIL__OUTSIDE_AT(COIL__AT_CORO_THREAD_RUNNING, struct coil__coro_thread,
                               running));

/* ---- misuse ------------------------------------------------------------------------ */

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
    coil__misuse("%s: the loop belongs to another thread, or is closed", caller);
}

COIL__NORETURN static void refuse_thread(const char *caller)
{
    coil__misuse("%s: this thread does not run the loop; use coil_post()", caller);
}

void coil__loop_wrong_thread(const coil_loop *loop, const char *caller)
{
    coil__loop_check_handler(caller);
    if (coil__loop_is_parents(loop))
        coil__fork_misuse(caller);
    refuse_thread(caller);
}

void coil__loop_check_foreign(uint32_t number, const char *caller)
{
    coil__loop_check_handler(caller);
    for (size_t i = 0; i < OPEN_MAX; i++)
        if (atomic_load(&open_loops[i]) == number)
            refuse_thread(caller);
}
