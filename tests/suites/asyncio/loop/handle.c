/*
 * handle.c - callbacks that are scheduled with call_soon, call_later, call_at or from
 * other threads, and their handles.
 */
#include "calls.h"

static void at_three(void *unused)
{
    trace("at three");
    at(2, trace_text, "two has passed");
    at(5, trace_text, "at five");
    later(5, stop, unused);
}

/*
 * Deadlines refer to the loop's clock, whose origin is arbitrary. A callback with a
 * deadline in the past is due at once.
 */
LOOP_SCENARIO(call_at_calls_at_a_time_of_the_clock)
{
    at(3, at_three, NULL);
    return run_loop(loop);
}

/*
 * Callbacks run in the order of their deadlines. Each handle returns the deadline of its
 * callback.
 */
LOOP_SCENARIO(call_later_calls_each_at_its_time)
{
    coil_handle *five = later(5, trace_text, "after five");
    coil_handle *two = later(2, trace_text, "after two");
    int rc;

    later(9, stop, NULL);
    later(3, trace_text, "after three");
    if (five == NULL || two == NULL)
        return -ENOMEM;
    trace("due at %d and %d", (int)(coil_handle_when(five) / COIL_SEC(1)),
          (int)(coil_handle_when(two) / COIL_SEC(1)));
    rc = run_loop(loop);
    trace("cancelled: %d", coil_handle_cancelled(five));
    return rc;
}

/*
 * Callbacks with negative delays are due at once. If several callbacks are overdue, the
 * one with the earliest deadline runs first.
 */
LOOP_SCENARIO(call_later_with_a_negative_delay_was_due_before)
{
    later(0, trace_text, "zero");
    later(-1, trace_text, "minus one");
    later(-2, trace_text, "minus two");
    later(1, stop, NULL);
    return run_loop(loop);
}

static void call_soon_first(void *unused)
{
    (void)unused;
    trace("first");
    soon(trace_text, "from first");
}

static void call_soon_second(void *unused)
{
    trace("second");
    soon(stop, unused);
    soon(trace_text, "from second");
}

/*
 * Callbacks run in the order in which they were scheduled. A callback that is scheduled
 * by another callback runs one turn later.
 */
LOOP_SCENARIO(call_soon_calls_in_the_next_turn_in_order)
{
    soon(call_soon_first, NULL);
    soon(call_soon_second, NULL);
    soon(trace_text, "third");
    trace("nothing yet");
    return run_loop(loop);
}

static coil_handle *handle;

static void body(void *unused)
{
    (void)unused;
    cancel_handle(handle);
    trace("in the call: %d", handle == NULL || coil_handle_cancelled(handle));
}

/*
 * Cancelling a callback that has run or is running only changes the state of its handle.
 */
LOOP_SCENARIO(handle_cancelled_after_its_call_says_so)
{
    coil_handle *called;
    int rc;

    handle = soon(body, NULL);
    called = soon(trace_text, "called");
    soon(stop, NULL);
    rc = run_loop(loop);
    if (called == NULL)
        return -ENOMEM;
    trace("called: %d", coil_handle_cancelled(called));
    coil_handle_cancel(called);
    trace("afterwards: %d", coil_handle_cancelled(called));
    return rc;
}

static coil_handle *next;

static void cancel_next(void *unused)
{
    (void)unused;
    trace("cancels");
    cancel_handle(next);
}

/*
 * A ready callback can be cancelled before its turn, or by an earlier callback of the
 * same turn.
 */
LOOP_SCENARIO(handle_cancelled_while_ready_is_not_called)
{
    coil_handle *first = soon(trace_text, "never printed");
    int rc;

    if (first == NULL)
        return -ENOMEM;
    trace("before: %d", coil_handle_cancelled(first));
    coil_handle_cancel(first);
    trace("cancelled: %d", coil_handle_cancelled(first));
    coil_handle_cancel(first);
    trace("twice: %d", coil_handle_cancelled(first));
    soon(cancel_next, NULL);
    next = soon(trace_text, "never printed either");
    soon(trace_text, "the third is called");
    soon(stop, NULL);
    rc = run_loop(loop);
    if (next != NULL)
        trace("both: %d %d", coil_handle_cancelled(first), coil_handle_cancelled(next));
    return rc;
}

static void post(coil_callback fn, void *arg)
{
    if (coil_post(coil_loop_current(), fn, arg) < 0)
        stop(NULL);
}

static void ask(void *unused)
{
    post(trace_text, "posted");
    soon(trace_text, "called soon");
    post(trace_text, "posted again");
    soon(trace_text, "called soon again");
    post(stop, unused);
}

/*
 * If the loop's own thread posts a callback with call_soon_threadsafe, it runs in the
 * order in which it was scheduled, like all other callbacks.
 */
LOOP_SCENARIO(post_from_the_loops_thread_keeps_its_place)
{
    post(ask, NULL);
    return run_loop(loop);
}

/* After the earliest timer is cancelled, the loop sleeps until the next timer is due. */
LOOP_SCENARIO(timer_cancelled_does_not_wake_the_loop)
{
    coil_handle *first = later(5, trace_text, "never printed");
    int rc;

    later(10, stop, NULL);
    if (first == NULL)
        return -ENOMEM;
    coil_handle_cancel(first);
    rc = run_loop(loop);
    trace("stopped at %d, cancelled: %d", (int)(coil_now() / COIL_SEC(1)),
          coil_handle_cancelled(first));
    return rc;
}

/*
 * A timer with a delay of 0 is due in the next turn, after the callbacks that are ready
 * then.
 */
LOOP_SCENARIO(timer_of_no_delay_comes_after_what_is_ready)
{
    later(0, trace_text, "a timer");
    soon(trace_text, "soon");
    at(0, stop, NULL);
    soon(trace_text, "soon too");
    return run_loop(loop);
}

static void due(void *unused)
{
    trace("due");
    soon(trace_text, "called soon");
    soon(stop, unused);
}

/*
 * If a timer's callback schedules another callback, the new callback runs after all
 * callbacks that were due at the same time as the timer.
 */
LOOP_SCENARIO(timer_that_calls_soon_is_a_turn_ahead_of_it)
{
    later(2, due, NULL);
    later(2, trace_text, "due as well");
    return run_loop(loop);
}

static coil_handle *timer_that_is_due_second;

static void timer_that_is_due_first(void *unused)
{
    trace("first");
    cancel_handle(timer_that_is_due_second);
    later(1, stop, unused);
}

/*
 * If two timers are due at the same time, the first can cancel the second, which is
 * already ready.
 */
LOOP_SCENARIO(timer_that_is_due_is_cancelled_in_its_turn)
{
    int rc;

    later(3, timer_that_is_due_first, NULL);
    timer_that_is_due_second = later(3, trace_text, "never printed");
    later(3, trace_text, "third");
    rc = run_loop(loop);
    if (timer_that_is_due_second != NULL)
        trace("cancelled: %d", coil_handle_cancelled(timer_that_is_due_second));
    return rc;
}

static int left = 3;

static void tick(void *unused)
{
    trace("tick");
    if (--left > 0)
        later(2, tick, unused);
    else
        soon(stop, unused);
}

/*
 * A callback that schedules itself again runs at regular intervals, with other callbacks
 * in between.
 */
LOOP_SCENARIO(timer_that_starts_itself_again_keeps_its_pace)
{
    later(2, tick, NULL);
    later(3, trace_text, "between");
    later(4, trace_text, "with the second");
    return run_loop(loop);
}

static void trace_number(void *number)
{
    trace("timer %d", (int)(intptr_t)number);
}

/* If most of two hundred timers are cancelled, the remaining timers still run on time. */
LOOP_SCENARIO(timers_cancelled_by_the_hundred_leave_the_others)
{
    int cancelled = 0, rc;

    for (int i = 0; i < 200; i++) {
        coil_handle *timer = later(1 + i * 37 % 200, trace_number, (void *)(intptr_t)i);

        if (i % 40 != 7)
            cancel_handle(timer);
        cancelled += timer != NULL && coil_handle_cancelled(timer);
    }
    later(300, stop, NULL);
    trace("cancelled: %d", cancelled);
    rc = run_loop(loop);
    trace("stopped at %d", (int)(coil_now() / COIL_SEC(1)));
    return rc;
}
