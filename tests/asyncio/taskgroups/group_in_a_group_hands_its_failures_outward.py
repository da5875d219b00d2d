"""Failures that arise as a nested group is cancelled come out of both groups."""

from scenario import *


async def child(name):
    try:
        await tell(name, asyncio.sleep(10))
    finally:
        raise Failure("EIO")


async def owner():
    async with telling_group("outer"):
        async with telling_group("inner") as inner:
            for name in "abc":
                inner.create_task(child(name))
            await tell("body", asyncio.sleep(10))


async def scenario():
    task = asyncio.create_task(owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
