"""All who await a task go on one turn after its end; who comes later does not wait at
all."""

from scenario import *


async def body(future):
    await tell("body", future)
    return 4


async def waiter(i, task):
    trace("waiter %d: %s", i, await outcome(task))


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    waiters = [asyncio.create_task(waiter(i, task)) for i in range(3)]
    await turns(1)
    ticks = asyncio.create_task(ticker(3))
    await turns(1)
    future.set_result(0)
    await ticks
    trace("late: %s", await outcome(task))
    trace("waiters: %s %s %s", *map(state, waiters))
