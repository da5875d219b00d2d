"""The same one task further: who awaits the owner of the group is cancelled, and gets its
failure.
"""

from scenario import *


async def child(name, seconds, fails=None):
    await tell(name, asyncio.sleep(seconds))
    if fails:
        raise Failure(fails)


async def nested():
    async with telling_group() as group:
        group.create_task(child("child", 3, "EIO"))
        try:
            await tell("body", asyncio.sleep(10))
        except asyncio.CancelledError:
            await tell("cleanup", asyncio.sleep(5))
            raise


async def owner():
    await tell("nested", asyncio.create_task(nested()))


async def scenario():
    task = asyncio.create_task(owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
