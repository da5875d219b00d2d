"""wait_for(): await a task or a future with a time limit."""

from scenario import *


async def worker():
    await trace_outcome("worker", asyncio.sleep(3))
    return 5


@scenario
async def wait_for_a_shield_for_no_time_leaves_the_task_alone():
    """With a timeout of 0, a shielded task that has not begun is not cancelled, and still runs."""
    task = asyncio.create_task(worker())
    asyncio.create_task(ticker(4))
    trace("wait_for: %s", await outcome(asyncio.wait_for(asyncio.shield(task), 0)))
    trace("task %s, cancelling %d", state(task), task.cancelling())
    trace("task: %s", await outcome(task))


@scenario
async def wait_for_a_shield_that_times_out_leaves_the_task_alone():
    """When the deadline passes, the wait for a shielded task ends, and the task continues."""
    task = asyncio.create_task(worker())
    trace("wait_for: %s", await outcome(asyncio.wait_for(asyncio.shield(task), 1)))
    trace("task %s, cancelling %d", state(task), task.cancelling())
    trace("task: %s", await outcome(task))


@scenario
async def wait_for_a_shield_without_a_deadline_awaits():
    """Without a deadline, wait_for() waits until a shielded task has ended."""
    task = asyncio.create_task(worker())
    trace("wait_for: %s", await outcome(asyncio.wait_for(asyncio.shield(task), None)))
    trace("task %s, cancelling %d", state(task), task.cancelling())
    trace("task: %s", await outcome(task))


async def inner():
    await asyncio.sleep(0)
    trace("inner ends")
    return 3


async def wait_and_go_on(task):
    await trace_outcome("wait_for", asyncio.wait_for(task, 100))
    trace("never printed")


@scenario
async def wait_for_cancelled_as_the_task_ends_is_cancelled():
    """If the waiter is cancelled after the task has ended and before the waiter continues, the waiter gets the
    cancellation, and the task is done.

    Since: 3.12
    """
    task = asyncio.create_task(inner())
    waiter = asyncio.create_task(wait_and_go_on(task))
    waiting = asyncio.create_task(wait_and_go_on(new_future()))
    await turns(2)
    trace("task %s, waiter %s", state(task), state(waiter))
    trace("cancel: %d", waiter.cancel())
    trace("cancel: %d", waiting.cancel())
    trace("waiter: %s", await outcome(waiter))
    trace("waiting: %s", await outcome(waiting))
    trace("task: %s", state(task))


async def stubborn():
    while now() < 4:
        try:
            await asyncio.sleep(4 - now())
        except asyncio.CancelledError:
            trace("does not listen")
    trace("ends")
    return 7


@scenario
async def wait_for_cancelled_waits_for_what_does_not_listen():
    """Cancelling the waiter cancels the awaited task. If the task ignores the cancellation, the waiter gets the
    result when the task has ended.

    Since: 3.12
    """
    inner = asyncio.create_task(stubborn())
    waiter = asyncio.create_task(asyncio.wait_for(inner, 8))
    await asyncio.sleep(1)
    trace("cancel: %d", waiter.cancel())
    trace("waiter: %s", await outcome(waiter))
    trace("inner: %s", state(inner))


async def sleeper():
    try:
        return await trace_outcome("sleep", asyncio.sleep(10, 7))
    finally:
        trace("ends")


@scenario
async def wait_for_cancels_a_task_at_the_deadline():
    """When the deadline passes, the task is cancelled. wait_for() raises TimeoutError only after the task has ended."""
    task = asyncio.create_task(sleeper())
    trace("wait_for: %s", await outcome(asyncio.wait_for(task, 2)))
    trace("task: %s", state(task))
    trace("cancelling %d and %d", task.cancelling(), asyncio.current_task().cancelling())
    await trace_outcome("sleep", asyncio.sleep(1))


@scenario
async def wait_for_goes_on_as_soon_as_the_future_is_set():
    """A future that is set in time wakes the waiter in the next turn.

    Since: 3.12
    """
    loop = asyncio.get_running_loop()
    future = new_future()
    loop.call_soon(future.set_result, 5)
    asyncio.create_task(ticker(3))
    trace("wait_for: %s", await outcome(asyncio.wait_for(future, 2)))
    await trace_outcome("sleep", asyncio.sleep(3))


async def failing():
    try:
        await trace_outcome("sleep", asyncio.sleep(10))
    finally:
        raise Failure("EIO")


@scenario
async def wait_for_hands_on_what_a_cancelled_task_fails_with():
    """If a task fails when it is cancelled at the deadline, wait_for() returns its failure.
    """
    for delay in 2, 0:
        task = asyncio.create_task(failing())
        await turns(1)
        trace("wait_for: %s", await outcome(asyncio.wait_for(task, delay)))


async def never():
    trace("never printed")


@scenario
async def wait_for_no_time_begins_no_task():
    """With a timeout of 0, a task that has not begun never begins."""
    asyncio.create_task(ticker(5))
    trace("wait_for: %s", await outcome(asyncio.wait_for(asyncio.create_task(never()), 0)))


@scenario
async def wait_for_no_time_cancels_what_runs():
    """With a timeout of 0, a running task is cancelled and awaited."""
    for delay in 0, -1:
        task = asyncio.create_task(sleeper())
        await turns(1)
        asyncio.create_task(ticker(4))
        trace("wait_for: %s", await outcome(asyncio.wait_for(task, delay)))
        trace("task: %s", state(task))
        await turns(2)


@scenario
async def wait_for_no_time_takes_what_is_done():
    """With a timeout of 0, an available result is returned without a turn, and a pending future is cancelled.
    """
    asyncio.create_task(ticker(4))
    done, pending = new_future(), new_future()
    done.set_result(5)
    for future in done, pending:
        for delay in 0, -1:
            trace("wait_for: %s", await outcome(asyncio.wait_for(future, delay)))
            trace("future: %s", state(future))


@scenario
async def wait_for_takes_the_result_of_what_does_not_listen():
    """If a task ignores the cancellation at the deadline, wait_for() waits for it, and returns its result instead of a
    timeout.
    """
    inner = asyncio.create_task(stubborn())
    trace("wait_for: %s", await outcome(asyncio.wait_for(inner, 2)))
    trace("cancelling %d", asyncio.current_task().cancelling())


async def catcher():
    trace("sleep: %s", await outcome(asyncio.sleep(10)))
    return 1


@scenario
async def wait_for_takes_what_a_cancelled_task_returns():
    """If a task catches the cancellation at the deadline and returns a value, wait_for() returns that value, even
    if the deadline had passed before the call.
    """
    for delay in 2, 0:
        task = asyncio.create_task(catcher())
        await turns(1)
        trace("wait_for: %s", await outcome(asyncio.wait_for(task, delay)))


@scenario
async def wait_for_that_is_cancelled_cancels_the_task():
    """Cancelling the waiter cancels the task, with or without a deadline.

    Since: 3.12
    """
    for delay in None, 60:
        task = asyncio.create_task(sleeper())
        waiter = asyncio.create_task(asyncio.wait_for(task, delay))
        asyncio.get_running_loop().call_soon(waiter.cancel)
        asyncio.create_task(ticker(4))
        trace("waiter: %s", await outcome(waiter))
        trace("task: %s", state(task))
        await turns(4)


async def slow():
    try:
        await trace_outcome("sleep", asyncio.sleep(10))
    except asyncio.CancelledError:
        await trace_outcome("cleanup", asyncio.sleep(3))
        raise


@scenario
async def wait_for_waits_while_a_cancelled_task_cleans_up():
    """When the timeout has passed, even a timeout of 0, wait_for() waits for a cancelled task that takes time to end.
    """
    for delay in 2, 0:
        task = asyncio.create_task(slow())
        await turns(1)
        trace("wait_for: %s", await outcome(asyncio.wait_for(task, delay)))
        trace("task: %s", state(task))


@scenario
async def wait_for_without_a_deadline_only_awaits():
    """Without a deadline, wait_for() is equivalent to await."""
    task = asyncio.create_task(sleeper())
    trace("wait_for: %s", await outcome(asyncio.wait_for(task, None)))
