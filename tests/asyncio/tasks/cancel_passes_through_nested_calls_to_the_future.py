"""A cancellation reaches the future at the bottom of the calls, and comes up through
them."""

from scenario import *


async def inner(future):
    await tell("inner", future)


async def outer(future):
    try:
        await tell("outer", inner(future))
    except asyncio.CancelledError:
        trace("outer catches it")
    return 101


async def scenario():
    future = new_future()
    task = asyncio.create_task(outer(future))
    await turns(1)
    task.cancel()
    trace("awaited: %s", await outcome(task))
    trace("future: %s, counted %d", state(future), task.cancelling())
