"""A child fails, and the body fails otherwise when it is cancelled for that: both are the
group's failures, the child's first.
"""

from scenario import *


async def child(name, seconds, fails=None):
    await tell(name, asyncio.sleep(seconds))
    if fails:
        raise Failure(fails)


async def nested():
    try:
        await tell("nested", asyncio.sleep(10))
    finally:
        raise Failure("EPROTO")


async def owner():
    async with telling_group() as group:
        group.create_task(child("child", 1, "EIO"))
        await nested()


async def scenario():
    trace("owner: %s", await outcome(asyncio.create_task(owner())))
