"""A promise that is cancelled before its task was started: the task runs up to its first wait all the same."""

from scenario import *


async def body():
    trace("begins")
    trace("waits: %s", await outcome(asyncio.sleep(9)))
    raise asyncio.CancelledError


async def scenario():
    promise = asyncio.run_coroutine_threadsafe(body(), asyncio.get_running_loop())
    trace("cancel: %d", promise.cancel())
    await ticker(5)
    trace("cancelled: %d", promise.cancelled())
