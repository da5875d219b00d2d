"""Cancelling the promise of a task that was started as from another thread cancels that task two turns later."""

from scenario import *


async def body():
    try:
        await asyncio.sleep(9)
    except asyncio.CancelledError:
        trace("task is told")
        raise


async def scenario():
    promise = asyncio.run_coroutine_threadsafe(body(), asyncio.get_running_loop())
    await asyncio.sleep(1)
    trace("cancel: %d", promise.cancel())
    trace("done: %d", promise.done())
    await ticker(4)
    trace("again: %d", promise.cancelled())
