"""Cancelling a task that gathers cancels all it gathers, in order, and the future they
await."""

from scenario import *


async def inner(i, future):
    await tell("inner %d" % i, future)


async def outer(tasks):
    await tell("outer", asyncio.gather(*tasks))


async def scenario():
    future = new_future()
    tasks = [asyncio.create_task(inner(i, future)) for i in range(2)]
    task = asyncio.create_task(outer(tasks))
    ticks = asyncio.create_task(ticker(5))
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("future %s, tasks %s %s", state(future), *map(state, tasks))
    trace("counted: %d %d %d", task.cancelling(), *(each.cancelling() for each in tasks))
    trace("outer task: %s", await outcome(task))
    trace("tasks %s %s", *map(state, tasks))
    await ticks
