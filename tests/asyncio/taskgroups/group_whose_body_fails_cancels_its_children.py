"""A body that fails after a while cancels the children, and its failure comes out when
they have ended.
"""

from scenario import *


async def child(name, seconds):
    await tell(name, asyncio.sleep(seconds))


async def owner():
    async with telling_group() as group:
        group.create_task(child("a", 5))
        group.create_task(child("b", 6))
        await tell("body", asyncio.sleep(1))
        raise Failure("EIO")


async def scenario():
    trace("owner: %s", await outcome(owner()))
