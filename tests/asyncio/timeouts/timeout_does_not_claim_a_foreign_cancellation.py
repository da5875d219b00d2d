"""Cancelled by somebody else before the deadline: the block is cancelled, and has not
expired.
"""

from scenario import *


async def body():
    async with telling_timeout("timeout", 10):
        asyncio.current_task().cancel()
        await tell("sleep", asyncio.sleep(10))


async def scenario():
    task = asyncio.create_task(body())
    trace("task: %s", await outcome(task))
    trace("cancelled %d", task.cancelled())
