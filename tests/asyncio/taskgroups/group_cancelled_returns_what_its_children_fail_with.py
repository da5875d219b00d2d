"""Children that fail as they are cancelled turn a cancellation into failures: those come
out of the group.
"""

from scenario import *


async def child(name):
    try:
        await tell(name, asyncio.sleep(10))
    finally:
        raise Failure("EIO")


async def owner():
    async with telling_group() as group:
        for name in "abc":
            group.create_task(child(name))
        await tell("body", asyncio.sleep(10))


async def scenario():
    task = asyncio.create_task(owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
