"""How a task handles requests to cancel it, including requests from itself."""

from scenario import *


async def cancel_of_oneself_reaches_a_gather_inner(i):
    await trace_outcome("inner %d" % i, asyncio.sleep(2))


async def cancel_of_oneself_reaches_a_gather_body(tasks):
    await turns(1)
    asyncio.current_task().cancel()
    await trace_outcome("body", asyncio.gather(*tasks, return_exceptions=True))


@scenario
async def cancel_of_oneself_reaches_a_gather():
    """A task that cancels itself cancels all children of its next gather."""
    tasks = [asyncio.create_task(cancel_of_oneself_reaches_a_gather_inner(i)) for i in range(2)]
    task = asyncio.create_task(cancel_of_oneself_reaches_a_gather_body(tasks))
    ticks = asyncio.create_task(ticker(5))
    trace("task: %s", await outcome(task))
    trace("inner: %s %s", *map(state, tasks))
    await ticks


async def nested(future):
    await trace_outcome("nested", future)


async def cancel_of_oneself_reaches_what_is_awaited_body(future):
    task = asyncio.create_task(nested(future))
    await turns(1)
    asyncio.current_task().cancel()
    result = await outcome(task)
    trace("body: %s, nested task %s", result, state(task))
    raise asyncio.CancelledError


@scenario
async def cancel_of_oneself_reaches_what_is_awaited_next():
    """If a task cancels itself and then awaits another task, that other task is cancelled too, and so is the future
    that the other task awaits."""
    future = new_future()
    task = asyncio.create_task(cancel_of_oneself_reaches_what_is_awaited_body(future))
    trace("awaited: %s", await outcome(task))
    trace("future: %s", state(future))


async def cancel_of_oneself_stops_inner():
    await trace_outcome("inner", asyncio.sleep(2))
    return 8


async def cancel_of_oneself_stops_body(task):
    asyncio.current_task().cancel()
    await trace_outcome("body", asyncio.shield(task))


@scenario
async def cancel_of_oneself_stops_before_a_shield():
    """If a task cancels itself and then awaits a shielded future, the wait is cancelled, and the shielded work
    continues."""
    inner_task = asyncio.create_task(cancel_of_oneself_stops_inner())
    task = asyncio.create_task(cancel_of_oneself_stops_body(inner_task))
    trace("task: %s", await outcome(task))
    trace("inner: %s", state(inner_task))
    trace("inner: %s", await outcome(inner_task))


async def cancel_of_oneself_waits_body(done):
    asyncio.current_task().cancel()
    await trace_outcome("done future", done)
    await trace_outcome("shield", asyncio.shield(done))
    trace("gathered %d", (await asyncio.gather(done, done))[1])
    await trace_outcome("yield", asyncio.sleep(0))


@scenario
async def cancel_of_oneself_waits_for_a_wait_that_suspends():
    """A task that has cancelled itself can still get results without waiting, from completed futures and from gathers
    of completed futures.

    Since: 3.12
    """
    done = new_future()
    done.set_result(6)
    task = asyncio.create_task(cancel_of_oneself_waits_body(done))
    trace("awaited: %s", await outcome(task))


async def cancelling_counts_body():
    try:
        await trace_outcome("await", asyncio.sleep(10))
    finally:
        trace("counted inside: %d", asyncio.current_task().cancelling())


@scenario
async def cancelling_counts_each_request():
    """Each request to cancel is counted, but the task is cancelled only once."""
    task = asyncio.create_task(cancelling_counts_body())
    await turns(1)
    trace("counted: %d", task.cancelling())
    trace("cancel: %s", result_of(task.cancel()))
    trace("counted: %d", task.cancelling())
    trace("cancel: %s", result_of(task.cancel()))
    trace("counted: %d", task.cancelling())
    trace("awaited: %s", await outcome(task))
    trace("cancel: %s", result_of(task.cancel()))
    trace("counted: %d", task.cancelling())


async def task_and_its_future_body(future):
    try:
        await trace_outcome("await", future)
    finally:
        trace("counted: %d", asyncio.current_task().cancelling())


@scenario
async def task_and_its_future_are_cancelled_both():
    """If a task is cancelled right after the future that it awaits was cancelled, it gets only one cancellation."""
    future = new_future()
    task = asyncio.create_task(task_and_its_future_body(future))
    await turns(1)
    trace("cancel the future: %s", result_of(future.cancel()))
    trace("cancel the task: %s", result_of(task.cancel()))
    trace("future %s, task %s", state(future), state(task))
    trace("awaited: %s", await outcome(task))


async def task_cancelled_body():
    trace("never printed")


@scenario
async def task_cancelled_before_its_first_step():
    """A task that is cancelled before its first step never runs."""
    task = asyncio.create_task(task_cancelled_body())
    trace("cancel: %s", result_of(task.cancel()))
    trace("before: %s", state(task))
    trace("awaited: %s", await outcome(task))


async def task_that_cancels_itself_and_returns_body(fails):
    trace("cancel: %s", result_of(asyncio.current_task().cancel()))
    if fails:
        raise Failure("EIO")
    return 12


@scenario
async def task_that_cancels_itself_and_returns_is_cancelled():
    """A task that cancels itself and returns before its next wait is cancelled, whether it returns a result or
    fails."""
    for fails in False, True:
        task = asyncio.create_task(task_that_cancels_itself_and_returns_body(fails))
        trace("awaited: %s", await outcome(task))
        trace("counted: %d", task.cancelling())
        trace("cancel: %s", result_of(task.cancel()))


async def task_that_cancels_itself_is_told_body():
    task = asyncio.current_task()
    trace("cancel: %s", result_of(task.cancel()))
    trace("still runs, counted %d", task.cancelling())
    await trace_outcome("slept", asyncio.sleep(100))
    return 12


@scenario
async def task_that_cancels_itself_is_told_at_its_next_wait():
    """If a task cancels itself, its next wait is cancelled at once."""
    task = asyncio.create_task(task_that_cancels_itself_is_told_body())
    trace("awaited: %s", await outcome(task))
    trace("cancel: %s", result_of(task.cancel()))


async def task_that_catches_body(first, second):
    trace("first: %s", await outcome(first))
    trace("second: %s", await outcome(second))
    return 42


@scenario
async def task_that_catches_a_cancellation_returns_its_result():
    """A task that catches its cancellation and returns is done, not cancelled."""
    first, second = new_future(), new_future()
    task = asyncio.create_task(task_that_catches_body(first, second))
    await turns(1)
    first.set_result(1)
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("second is %s", state(second))
    trace("awaited: %s", await outcome(task))
    trace("cancelled: %s", result_of(task.cancelled()))


async def task_that_fails_body():
    trace("slept: %s", await outcome(asyncio.sleep(10)))
    raise Failure("EIO")


@scenario
async def task_that_fails_when_it_is_cancelled_has_failed():
    """A task that returns a failure after its cancellation counts as failed, not as cancelled."""
    task = asyncio.create_task(task_that_fails_body())
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("state: %s", state(task))
    await turns(1)
    trace("state: %s, cancelled: %s", state(task), result_of(task.cancelled()))
    trace("awaited: %s", await outcome(task))


async def task_that_ignores_body(futures):
    for i, future in enumerate(futures):
        trace("%d: %s", i, await outcome(future))
    return 42


@scenario
async def task_that_ignores_a_cancellation_waits_on():
    """A task that has caught its cancellation may await another future, which is not cancelled."""
    futures = [new_future() for _ in range(3)]
    task = asyncio.create_task(task_that_ignores_body(futures))
    await turns(1)
    futures[0].set_result(1)
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    await turns(1)
    trace("task %s, counted %d", state(task), task.cancelling())
    trace("set the cancelled one: %s", attempt(futures[1].set_result, 2))
    futures[2].set_result(3)
    trace("awaited: %s", await outcome(task))
    trace("futures: %s %s %s", *map(state, futures))


async def uncancel_drops_body(future):
    task = asyncio.current_task()
    task.cancel()
    task.cancel()
    trace("counted %d", task.cancelling())
    trace("%d left", task.uncancel())
    trace("%d left", task.uncancel())
    trace("%d left", task.uncancel())
    trace("future: %s", await outcome(future))
    return 42


@scenario
async def uncancel_drops_a_request_not_yet_delivered():
    """A task that cancels itself and withdraws the request before it waits is not cancelled.

    Since: 3.13
    """
    future = new_future()
    task = asyncio.create_task(uncancel_drops_body(future))
    await turns(1)
    future.set_result(7)
    trace("awaited: %s", await outcome(task))


async def uncancel_lets_body():
    task = asyncio.current_task()
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        trace("caught; %d left", task.uncancel())
        await asyncio.sleep(10)


@scenario
async def uncancel_lets_a_task_be_cancelled_anew():
    """A task that has caught its cancellation and withdrawn the request can sleep until the next request."""
    task = asyncio.create_task(uncancel_lets_body())
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("counted %d, %s", task.cancelling(), state(task))
    await asyncio.sleep(1)
    trace("counted %d, %s", task.cancelling(), state(task))
    trace("cancel: %s", result_of(task.cancel()))
    trace("counted %d, %s", task.cancelling(), state(task))
    trace("awaited: %s", await outcome(task))
    trace("counted %d, %s", task.cancelling(), state(task))


async def timed(delay, timeout):
    task = asyncio.current_task()
    fired = False

    def fire():
        nonlocal fired
        fired = True
        trace("the timer cancels")
        task.cancel()

    timer = asyncio.get_running_loop().call_later(timeout, fire)
    rc = await outcome(asyncio.sleep(delay))
    timer.cancel()
    if fired and task.uncancel() == 0 and rc == "ECANCELED":
        rc = "ETIMEDOUT"
    trace("the block: %s, counted %d", rc, task.cancelling())
    trace("after it: %s", await outcome(asyncio.sleep(0)))


@scenario
async def uncancel_makes_a_timeout_of_ones_own():
    """A program can implement its own timeout with a timer that cancels the task: if uncancel() returns 0 afterwards,
    the timer alone has cancelled the task."""
    for delay, timeout in (10, 1), (1, 10):
        task = asyncio.create_task(timed(delay, timeout))
        trace("awaited: %s", await outcome(task))


async def uncancel_takes_body():
    task = asyncio.current_task()
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        trace("caught, counted %d", task.cancelling())
        trace("%d left", task.uncancel())
    await trace_outcome("sleeps on", asyncio.sleep(1))
    trace("counted %d", task.cancelling())
    return 2


@scenario
async def uncancel_takes_back_one_of_two_requests():
    """After two requests to cancel, one uncancel() leaves one request in the count."""
    task = asyncio.create_task(uncancel_takes_body())
    await turns(1)
    for _ in range(2):
        trace("cancel: %s", result_of(task.cancel()))
    trace("awaited: %s", await outcome(task))
    trace("counted %d", task.cancelling())
