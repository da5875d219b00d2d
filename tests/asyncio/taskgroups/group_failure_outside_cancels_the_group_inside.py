"""A child of the outer group that fails cancels the owner, who waits in the nested group:
that one is cancelled, and only the failure comes out.
"""

from scenario import *


async def child(name, seconds, fails=None):
    await tell(name, asyncio.sleep(seconds))
    if fails:
        raise Failure(fails)


async def owner():
    async with telling_group("outer") as outer:
        outer.create_task(child("outer child", 1, "EIO"))
        async with telling_group("inner") as inner:
            inner.create_task(child("inner child", 10, "EPROTO"))


async def scenario():
    trace("owner: %s", await outcome(asyncio.create_task(owner())))
