"""A child may start children of the group it is in; the owner, who waits for the end,
waits for those, too.
"""

from scenario import *


async def leaf(name, seconds):
    await tell(name, asyncio.sleep(seconds))


async def root(group):
    await tell("root", asyncio.sleep(1))
    group.create_task(leaf("a", 1))
    group.create_task(leaf("b", 2))


async def scenario():
    async with telling_group() as group:
        group.create_task(root(group))
