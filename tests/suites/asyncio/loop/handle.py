"""Callbacks that are scheduled with call_soon, call_later, call_at or from other threads, and their handles."""

from scenario import *


@scenario
def call_at_calls_at_a_time_of_the_clock():
    """Deadlines refer to the loop's clock, whose origin is arbitrary. A callback with a deadline in the past is due at
    once."""
    loop = VirtualLoop()

    def at_three():
        trace("at three")
        loop.call_at(2, trace, "two has passed")
        loop.call_at(5, trace, "at five")
        loop.call_later(5, loop.stop)

    loop.call_at(3, at_three)
    loop.run_forever()
    loop.close()


@scenario
def call_later_calls_each_at_its_time():
    """Callbacks run in the order of their deadlines. Each handle returns the deadline of its callback."""
    loop = VirtualLoop()
    five = loop.call_later(5, trace, "after five")
    two = loop.call_later(2, trace, "after two")
    loop.call_later(9, loop.stop)
    loop.call_later(3, trace, "after three")
    trace("due at %d and %d", five.when(), two.when())
    loop.run_forever()
    trace("cancelled: %d", five.cancelled())
    loop.close()


@scenario
def call_later_with_a_negative_delay_was_due_before():
    """Callbacks with negative delays are due at once. If several callbacks are overdue, the one with the earliest
    deadline runs first."""
    loop = VirtualLoop()
    loop.call_later(0, trace, "zero")
    loop.call_later(-1, trace, "minus one")
    loop.call_later(-2, trace, "minus two")
    loop.call_later(1, loop.stop)
    loop.run_forever()
    loop.close()


@scenario
def call_soon_calls_in_the_next_turn_in_order():
    """Callbacks run in the order in which they were scheduled. A callback that is scheduled by another callback runs
    one turn later."""
    loop = VirtualLoop()

    def first():
        trace("first")
        loop.call_soon(trace, "from first")

    def second():
        trace("second")
        loop.call_soon(loop.stop)
        loop.call_soon(trace, "from second")

    loop.call_soon(first)
    loop.call_soon(second)
    loop.call_soon(trace, "third")
    trace("nothing yet")
    loop.run_forever()
    loop.close()


@scenario
def handle_cancelled_after_its_call_says_so():
    """Cancelling a callback that has run or is running only changes the state of its handle."""
    loop = VirtualLoop()
    handle = None

    def body():
        handle.cancel()
        trace("in the call: %d", handle.cancelled())

    handle = loop.call_soon(body)
    called = loop.call_soon(trace, "called")
    loop.call_soon(loop.stop)
    loop.run_forever()
    trace("called: %d", called.cancelled())
    called.cancel()
    trace("afterwards: %d", called.cancelled())
    loop.close()


@scenario
def handle_cancelled_while_ready_is_not_called():
    """A ready callback can be cancelled before its turn, or by an earlier callback of the same turn."""
    loop = VirtualLoop()
    cancelled = loop.call_soon(trace, "never printed")
    trace("before: %d", cancelled.cancelled())
    cancelled.cancel()
    trace("cancelled: %d", cancelled.cancelled())
    cancelled.cancel()
    trace("twice: %d", cancelled.cancelled())
    later = None

    def cancel_later():
        trace("cancels")
        later.cancel()

    loop.call_soon(cancel_later)
    later = loop.call_soon(trace, "never printed either")
    loop.call_soon(trace, "the third is called")
    loop.call_soon(loop.stop)
    loop.run_forever()
    trace("both: %d %d", cancelled.cancelled(), later.cancelled())
    loop.close()


@scenario
def post_from_the_loops_thread_keeps_its_place():
    """If the loop's own thread posts a callback with call_soon_threadsafe, it runs in the order in which it was
    scheduled, like all other callbacks."""
    loop = VirtualLoop()

    def ask():
        loop.call_soon_threadsafe(trace, "posted")
        loop.call_soon(trace, "called soon")
        loop.call_soon_threadsafe(trace, "posted again")
        loop.call_soon(trace, "called soon again")
        loop.call_soon_threadsafe(loop.stop)

    loop.call_soon_threadsafe(ask)
    loop.run_forever()
    loop.close()


@scenario
def timer_cancelled_does_not_wake_the_loop():
    """After the earliest timer is cancelled, the loop sleeps until the next timer is due."""
    loop = VirtualLoop()
    first = loop.call_later(5, trace, "never printed")
    loop.call_later(10, loop.stop)
    first.cancel()
    loop.run_forever()
    trace("stopped at %d, cancelled: %d", loop.time(), first.cancelled())
    loop.close()


@scenario
def timer_of_no_delay_comes_after_what_is_ready():
    """A timer with a delay of 0 is due in the next turn, after the callbacks that are ready then."""
    loop = VirtualLoop()
    loop.call_later(0, trace, "a timer")
    loop.call_soon(trace, "soon")
    loop.call_at(0, loop.stop)
    loop.call_soon(trace, "soon too")
    loop.run_forever()
    loop.close()


@scenario
def timer_that_calls_soon_is_a_turn_ahead_of_it():
    """If a timer's callback schedules another callback, the new callback runs after all callbacks that were due at the
    same time as the timer."""
    loop = VirtualLoop()

    def due():
        trace("due")
        loop.call_soon(trace, "called soon")
        loop.call_soon(loop.stop)

    loop.call_later(2, due)
    loop.call_later(2, trace, "due as well")
    loop.run_forever()
    loop.close()


@scenario
def timer_that_is_due_is_cancelled_in_its_turn():
    """If two timers are due at the same time, the first can cancel the second, which is already ready."""
    loop = VirtualLoop()
    second = None

    def first():
        trace("first")
        second.cancel()
        loop.call_later(1, loop.stop)

    loop.call_later(3, first)
    second = loop.call_later(3, trace, "never printed")
    loop.call_later(3, trace, "third")
    loop.run_forever()
    trace("cancelled: %d", second.cancelled())
    loop.close()


@scenario
def timer_that_starts_itself_again_keeps_its_pace():
    """A callback that schedules itself again runs at regular intervals, with other callbacks in between."""
    loop = VirtualLoop()
    left = 3

    def tick():
        nonlocal left
        trace("tick")
        left -= 1
        if left > 0:
            loop.call_later(2, tick)
        else:
            loop.call_soon(loop.stop)

    loop.call_later(2, tick)
    loop.call_later(3, trace, "between")
    loop.call_later(4, trace, "with the second")
    loop.run_forever()
    loop.close()


@scenario
def timers_cancelled_by_the_hundred_leave_the_others():
    """If most of two hundred timers are cancelled, the remaining timers still run on time."""
    loop = VirtualLoop()
    timers = [loop.call_later(1 + i * 37 % 200, trace, "timer %d", i) for i in range(200)]
    for i, timer in enumerate(timers):
        if i % 40 != 7:
            timer.cancel()
    loop.call_later(300, loop.stop)
    trace("cancelled: %d", sum(timer.cancelled() for timer in timers))
    loop.run_forever()
    trace("stopped at %d", loop.time())
    loop.close()
