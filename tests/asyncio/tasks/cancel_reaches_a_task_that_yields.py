"""A task that has merely yielded is told where it stands, and yields no second time."""

from scenario import *


async def body():
    await tell("first", asyncio.sleep(0))
    await tell("second", asyncio.sleep(0))


async def scenario():
    task = asyncio.create_task(body())
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    ticks = asyncio.create_task(ticker(2))
    trace("awaited: %s", await outcome(task))
    trace("cancel: %s", result_of(task.cancel()))
    await ticks
