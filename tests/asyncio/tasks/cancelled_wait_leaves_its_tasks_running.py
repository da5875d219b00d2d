"""A task that is cancelled in wait() leaves at once; those it waited for work on."""

from scenario import *


async def inner(future):
    return await tell("inner", future)


async def outer(tasks):
    await tell("outer", asyncio.wait(tasks))


async def scenario():
    future = new_future()
    tasks = [asyncio.create_task(inner(future)), asyncio.create_task(asyncio.sleep(3))]
    task = asyncio.create_task(outer(tasks))
    await asyncio.sleep(1)
    task.cancel()
    trace("outer task: %s", await outcome(task))
    trace("tasks: %s %s", *map(state, tasks))
    future.set_result(1)
    await asyncio.wait(tasks)
    trace("tasks: %s %s", *map(state, tasks))
