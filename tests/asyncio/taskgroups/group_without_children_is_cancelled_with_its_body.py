"""A group without children takes no turn to leave, cancelled or not."""

from scenario import *


async def owner():
    async with telling_group():
        await tell("body", asyncio.sleep(10))


async def scenario():
    asyncio.create_task(ticker(4))
    async with telling_group("empty"):
        pass
    task = asyncio.create_task(owner())
    await turns(2)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
