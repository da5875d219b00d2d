"""A child's failure cancels its siblings, and comes out of the group when they have ended.
"""

from scenario import *


async def child(name, seconds, fails=None):
    await tell(name, asyncio.sleep(seconds))
    if fails:
        raise Failure(fails)


async def owner():
    async with telling_group() as group:
        group.create_task(child("a", 1, "EIO"))
        b = group.create_task(child("b", 10))
        b.add_done_callback(lambda b: trace("b is %s", state(b)))
    trace("never printed")


async def scenario():
    trace("owner: %s", await outcome(owner()))
