"""A task that hands a future to its parent has ended; the parent awaits the future
itself."""

from scenario import *


async def giver():
    future = new_future()
    asyncio.get_running_loop().call_later(2, future.set_result, 9)
    return future


async def scenario():
    task = asyncio.create_task(giver())
    future = await task
    trace("the task is done; the future: %s", state(future))
    trace("the future: %s", await outcome(future))
