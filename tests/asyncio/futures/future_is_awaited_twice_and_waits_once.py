"""A task that awaits the same future twice suspends for it once."""

from scenario import *


async def body(future):
    await tell("first", future)
    await tell("second", future)
    return 3


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    ticks = asyncio.create_task(ticker(4))
    await turns(2)
    future.set_result(42)
    trace("awaited: %s", await outcome(task))
    await ticks
