"""The children of an outer group are cancelled when the failure of the nested one leaves
it, and not before.
"""

from scenario import *


async def child(name):
    try:
        await tell(name, asyncio.sleep(10))
    finally:
        raise Failure("EIO")


async def sleeper(name):
    await tell(name, asyncio.sleep(10))


async def owner():
    async with telling_group("outer") as outer:
        outer.create_task(sleeper("outer child"))
        async with telling_group("inner") as inner:
            for name in "ab":
                inner.create_task(child(name))
            await tell("body", asyncio.sleep(10))


async def scenario():
    task = asyncio.create_task(owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
