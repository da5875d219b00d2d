"""A cancellation that arrives in the body reaches the children when the body leaves the
group with it.
"""

from scenario import *


async def child(name, seconds):
    await tell(name, asyncio.sleep(seconds))


async def owner():
    async with telling_group() as group:
        for name in "abc":
            group.create_task(child(name, 5))
        await tell("body", asyncio.sleep(10))


async def scenario():
    task = asyncio.create_task(owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
