"""A failure in a nested group is the failure of the outer one's body: it cancels the outer
children.
"""

from scenario import *


async def child(name, seconds, fails=None):
    await tell(name, asyncio.sleep(seconds))
    if fails:
        raise Failure(fails)


async def owner():
    async with telling_group("outer") as outer:
        outer.create_task(child("outer child", 10, "EPROTO"))
        async with telling_group("inner") as inner:
            inner.create_task(child("inner child", 1, "EIO"))


async def scenario():
    trace("owner: %s", await outcome(asyncio.create_task(owner())))
