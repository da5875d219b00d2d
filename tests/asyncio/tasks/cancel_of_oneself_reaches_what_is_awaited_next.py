"""A task that cancels itself and then awaits another cancels that one, and its future
too."""

from scenario import *


async def nested(future):
    await tell("nested", future)


async def body(future):
    task = asyncio.create_task(nested(future))
    await turns(1)
    asyncio.current_task().cancel()
    result = await outcome(task)
    trace("body: %s, nested task %s", result, state(task))
    raise asyncio.CancelledError


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    trace("awaited: %s", await outcome(task))
    trace("future: %s", state(future))
