"""A child may come while others run already; the group waits for it, too."""

from scenario import *


async def child(name, seconds):
    await tell(name, asyncio.sleep(seconds))


async def scenario():
    async with telling_group() as group:
        group.create_task(child("a", 1))
        await tell("body", asyncio.sleep(2))
        group.create_task(child("b", 3))
