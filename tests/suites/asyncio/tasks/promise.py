"""Promises: tasks that one thread spawns in the loop of another thread and waits for."""

import concurrent.futures

from scenario import *


def new_promise():
    return concurrent.futures.Future()


async def body(name, promise):
    trace("%s: %s", name, await outcome(asyncio.wrap_future(promise)))


@scenario
async def promise_is_cancelled_with_the_task_that_awaits_it():
    """Cancelling a task that waits for a promise cancels the promise, and therefore all other waiters."""
    promise = new_promise()
    a = asyncio.create_task(body("a", promise))
    b = asyncio.create_task(body("b", promise))
    await asyncio.sleep(1)
    a.cancel()
    trace("cancelled, promise done: %d", promise.done())
    await a
    trace("a ended, promise done: %d", promise.done())
    await b
    trace("set: %d", promise.cancelled())


async def promise_of_a_spawn_cancelled_body():
    trace("begins")
    trace("waits: %s", await outcome(asyncio.sleep(9)))
    raise asyncio.CancelledError


@scenario
async def promise_of_a_spawn_cancelled_before_it_began():
    """If a promise is cancelled before its task has started, the task still runs up to its first wait."""
    promise = asyncio.run_coroutine_threadsafe(promise_of_a_spawn_cancelled_body(),
                                               asyncio.get_running_loop())  # fmt: skip
    trace("cancel: %d", promise.cancel())
    await ticker(5)
    trace("cancelled: %d", promise.cancelled())


async def promise_of_a_spawn_cancels_body():
    try:
        await asyncio.sleep(9)
    except asyncio.CancelledError:
        trace("task is cancelled")
        raise


@scenario
async def promise_of_a_spawn_cancels_its_task():
    """Cancelling the promise of a task that was started from another thread cancels the task two
    turns later."""
    promise = asyncio.run_coroutine_threadsafe(promise_of_a_spawn_cancels_body(),
                                               asyncio.get_running_loop())  # fmt: skip
    await asyncio.sleep(1)
    trace("cancel: %d", promise.cancel())
    trace("done: %d", promise.done())
    await ticker(4)
    trace("again: %d", promise.cancelled())


async def promise_of_a_spawn_has_its_failure_body():
    await asyncio.sleep(1)
    trace("fails")
    raise Failure("EIO")


@scenario
async def promise_of_a_spawn_has_its_failure():
    """If a task that was started from another thread fails, its promise fails with the same error."""
    promise = asyncio.run_coroutine_threadsafe(promise_of_a_spawn_has_its_failure_body(),
                                               asyncio.get_running_loop())  # fmt: skip
    trace("done: %d", promise.done())
    trace("promise: %s", await outcome(asyncio.wrap_future(promise)))
    trace("done: %d", promise.done())


async def promise_of_a_spawn_has_its_result_body():
    trace("begins")
    await asyncio.sleep(2)
    trace("ends")
    return 7


@scenario
async def promise_of_a_spawn_has_its_result():
    """A task that is started from another thread begins two turns later, and its promise gets its
    result."""
    loop = asyncio.get_running_loop()
    asyncio.create_task(ticker(3))
    promise = asyncio.run_coroutine_threadsafe(promise_of_a_spawn_has_its_result_body(), loop)
    trace("asked")
    await trace_outcome("promise", asyncio.wrap_future(promise))


async def promise_of_a_spawn_within_body():
    await trace_outcome("task", asyncio.sleep(9))


@scenario
async def promise_of_a_spawn_within_a_time_limit():
    """If waiting for the promise of a spawned task times out, the task is cancelled."""
    promise = asyncio.run_coroutine_threadsafe(promise_of_a_spawn_within_body(),
                                               asyncio.get_running_loop())  # fmt: skip
    try:
        async with asyncio.timeout(2):
            await asyncio.wrap_future(promise)
    except TimeoutError:
        trace("timed out, cancelled: %d", promise.cancelled())
    await turns(3)
    trace("at the end")


@scenario
async def promise_that_is_done_is_waited_for_all_the_same():
    """Awaiting a completed promise also takes two turns."""
    promise = new_promise()
    promise.set_result(6)
    asyncio.create_task(ticker(3))
    await trace_outcome("first", asyncio.wrap_future(promise))
    await trace_outcome("second", asyncio.wrap_future(promise))


@scenario
async def promise_wakes_its_awaiters_two_turns_later():
    """When a promise is set, its waiters continue two turns later, in the order in which they began to wait."""
    promise = new_promise()
    a = asyncio.create_task(body("a", promise))
    b = asyncio.create_task(body("b", promise))
    await asyncio.sleep(1)
    promise.set_result(5)
    trace("set")
    asyncio.create_task(ticker(3))
    await a
    await b
