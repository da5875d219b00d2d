"""wait() for ten tasks that return at once needs as many turns as for one."""

from scenario import *


async def body(value):
    return value


async def scenario():
    tasks = [asyncio.create_task(body(value)) for value in range(10)]
    ticks = asyncio.create_task(ticker(4))
    done, pending = await asyncio.wait(tasks)
    trace("done %d, pending %d", len(done), len(pending))
    trace("sum %d", sum(task.result() for task in done))
    await ticks
