"""After its cancellation a task may look again at the future it awaited: cancelled, at once.

Since: 3.12
"""

from scenario import *


async def body(future):
    trace("first: %s", await outcome(future))
    trace("again: %s", await outcome(future))
    trace("shield: %s", await outcome(asyncio.shield(future)))
    trace("gather: %s", await outcome(asyncio.gather(future)))
    trace("yield: %s", await outcome(asyncio.sleep(0)))
    return 1


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    ticks = asyncio.create_task(ticker(3))
    trace("cancel: %s", result_of(task.cancel()))
    trace("awaited: %s", await outcome(task))
    await ticks
