"""The failure of a task that is started as from another thread is that of its promise."""

from scenario import *


async def body():
    await asyncio.sleep(1)
    trace("fails")
    raise Failure("EIO")


async def scenario():
    promise = asyncio.run_coroutine_threadsafe(body(), asyncio.get_running_loop())
    trace("done: %d", promise.done())
    trace("promise: %s", await outcome(asyncio.wrap_future(promise)))
    trace("done: %d", promise.done())
