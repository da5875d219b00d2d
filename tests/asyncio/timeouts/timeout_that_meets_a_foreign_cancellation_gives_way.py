"""Cancelled by somebody else in the turn of the deadline: the block has expired, and is
cancelled all the same.
"""

from scenario import *


async def body():
    async with telling_timeout("timeout", 1):
        await tell("sleep", asyncio.sleep(10))


async def scenario():
    task = asyncio.create_task(body())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
    trace("cancelling %d", task.cancelling())
