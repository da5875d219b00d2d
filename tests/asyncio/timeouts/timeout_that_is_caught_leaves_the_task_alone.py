"""A task that catches its timeout ends well, not cancelled."""

from scenario import *


async def body():
    async with telling_timeout("timeout", 1):
        await tell("sleep", asyncio.sleep(10))


async def outer():
    trace("caught %s", await outcome(body()))
    await tell("sleep", asyncio.sleep(1))


async def scenario():
    task = asyncio.create_task(outer())
    trace("task: %s", await outcome(task))
    trace("done %d, cancelled %d", task.done(), task.cancelled())
