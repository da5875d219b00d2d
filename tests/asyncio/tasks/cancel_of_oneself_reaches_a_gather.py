"""A request for oneself cancels all that one gathers next."""

from scenario import *


async def inner(i):
    await tell("inner %d" % i, asyncio.sleep(2))


async def body(tasks):
    await turns(1)
    asyncio.current_task().cancel()
    await tell("body", asyncio.gather(*tasks, return_exceptions=True))


async def scenario():
    tasks = [asyncio.create_task(inner(i)) for i in range(2)]
    task = asyncio.create_task(body(tasks))
    ticks = asyncio.create_task(ticker(5))
    trace("task: %s", await outcome(task))
    trace("inner: %s %s", *map(state, tasks))
    await ticks
