"""Waiting for the promise of a spawn with a limit: when that is over the task is cancelled too."""

from scenario import *


async def body():
    await tell("task", asyncio.sleep(9))


async def scenario():
    promise = asyncio.run_coroutine_threadsafe(body(), asyncio.get_running_loop())
    try:
        async with asyncio.timeout(2):
            await asyncio.wrap_future(promise)
    except TimeoutError:
        trace("timed out, cancelled: %d", promise.cancelled())
    await turns(3)
    trace("at the end")
