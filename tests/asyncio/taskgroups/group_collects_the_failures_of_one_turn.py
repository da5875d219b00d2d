"""Children that fail in the same turn are all among the group's failures; the body and the
others are cancelled once.
"""

from scenario import *


async def child(name, seconds, fails=None):
    await tell(name, asyncio.sleep(seconds))
    if fails:
        raise Failure(fails)


async def owner():
    async with telling_group() as group:
        for name in "abc":
            group.create_task(child(name, 1, "EIO"))
        group.create_task(child("d", 5))
        await tell("body", asyncio.sleep(10))


async def scenario():
    trace("owner: %s", await outcome(owner()))
    trace("cancelling: %d", asyncio.current_task().cancelling())
