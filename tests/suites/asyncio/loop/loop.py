"""Running, stopping and closing a loop."""

from scenario import *


@scenario
def loop_closed_calls_nothing_any_more():
    """Callbacks that are ready or scheduled when the loop closes never run, not even in the next loop."""
    loop = VirtualLoop()
    loop.call_later(4, loop.stop)
    loop.run_forever()
    trace("stopped at %d", loop.time())
    ready = loop.call_soon(trace, "never printed")
    loop.call_later(1, trace, "never printed either")
    loop.close()
    trace("closed: %d", ready.cancelled())
    loop = VirtualLoop()
    loop.call_later(1, trace, "another loop")
    loop.call_later(2, loop.stop)
    loop.run_forever()
    loop.close()


@scenario
def loop_stopped_before_it_runs_takes_one_turn():
    """A loop that is stopped before it runs takes one turn, in which only the ready callbacks run."""
    loop = VirtualLoop()
    loop.call_soon(loop.call_soon, trace, "in the second turn")
    loop.call_soon(trace, "in the first turn")
    loop.call_later(1, trace, "never printed")
    loop.stop()
    loop.run_forever()
    trace("returned")
    loop.stop()
    loop.run_forever()
    trace("returned again, at %d", loop.time())
    loop.close()


@scenario
def loop_stopped_finishes_its_turn():
    """A stopped loop completes its current turn. Callbacks that became ready in that turn wait until the loop runs
    again."""
    loop = VirtualLoop()

    def stop_and_go_on():
        trace("stops, twice")
        loop.stop()
        loop.stop()
        loop.call_soon(trace, "in the next run")
        loop.call_soon(loop.stop)

    loop.call_soon(stop_and_go_on)
    loop.call_soon(trace, "still in this turn")
    loop.run_forever()
    trace("returned")
    loop.run_forever()
    trace("returned again")
    loop.close()


@scenario
def loop_that_runs_cannot_be_run():
    """A loop cannot be run from its own callbacks. Such an attempt fails, and the loop continues."""
    loop = VirtualLoop()

    def run_again():
        trace("running: %d", loop.is_running())
        try:
            loop.run_forever()
        except RuntimeError:
            trace("refused")
        loop.call_soon(trace, "goes on")
        loop.call_later(1, loop.stop)

    trace("running: %d", loop.is_running())
    loop.call_soon(run_again)
    loop.run_forever()
    trace("running: %d", loop.is_running())
    loop.close()


@scenario
async def loop_within_a_loop_is_refused():
    """While a loop runs, its thread cannot run another loop."""
    other = VirtualLoop()
    try:
        other.run_until_complete(other.create_future())
    except RuntimeError:
        trace("refused")
    other.close()
    await asyncio.sleep(1)
    trace("the first goes on")


async def sleep(seconds):
    await asyncio.sleep(seconds)
    trace("slept %d", seconds)


@scenario
def run_until_complete_cut_short_leaves_no_callback():
    """If stop() ends a run_until_complete(), the loop is not stopped again when the awaited task ends in a later
    run."""
    loop = VirtualLoop()
    one, two = loop.create_task(sleep(1)), loop.create_task(sleep(2))
    loop.call_soon(loop.stop)
    try:
        loop.run_until_complete(one)
    except RuntimeError:
        trace("cut short: %s", state(one))
    loop.run_until_complete(two)
    trace("the first: %s", state(one))
    loop.close()


@scenario
def run_until_complete_leaves_ready_what_its_last_turn_made():
    """Callbacks that are scheduled when the awaited future is set still run before run_until_complete() returns. If
    these callbacks schedule further callbacks, those wait for the next run."""
    loop = VirtualLoop()
    future = loop.create_future()

    def set_future():
        future.set_result(1)
        loop.call_soon(inner)
        trace("set")

    def inner():
        trace("in the last turn")
        loop.call_soon(trace, "in another run")

    loop.call_later(2, set_future)
    loop.run_until_complete(future)
    trace("complete")
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()


async def fail():
    raise Failure("EIO")


@scenario
def run_until_complete_of_a_failure_leaves_no_stop():
    """If a task fails in its first step, run_until_complete() returns the failure, and the next run of the loop is not
    stopped."""
    loop = VirtualLoop()
    try:
        loop.run_until_complete(fail())
    except Failure as failure:
        trace("run: %s", name_of(failure))

    def last():
        trace("reached")
        loop.stop()

    loop.call_soon(loop.call_soon, last)
    loop.run_forever()
    loop.close()


@scenario
def run_until_complete_of_what_is_done_takes_a_turn():
    """run_until_complete() with a completed future takes one turn, in which the ready callbacks run."""
    loop = VirtualLoop()
    future = loop.create_future()
    future.set_result(7)
    loop.call_soon(loop.call_soon, trace, "in the next run")
    loop.call_soon(trace, "in the first run")
    trace("first: %d", loop.run_until_complete(future))
    trace("second: %d", loop.run_until_complete(future))
    loop.close()


async def body(loop):
    loop.stop()
    trace("still runs")
    await asyncio.sleep(0)
    trace("runs again")
    await asyncio.sleep(1)
    return 5


@scenario
def stop_from_a_task_lets_it_go_on_until_it_waits():
    """A task that stops its loop continues until it waits. The task resumes when the loop runs again."""
    loop = VirtualLoop()
    task = loop.create_task(body(loop))
    try:
        loop.run_until_complete(task)
    except RuntimeError:
        trace("stopped: %s", state(task))
    trace("ends: %d", loop.run_until_complete(task))
    loop.close()
