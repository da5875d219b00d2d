"""A future is set, and who waits behind a shield is cancelled in the same turn:
cancelled."""

from scenario import *


async def body(i, future):
    return await tell("waiter %d" % i, asyncio.shield(future))


async def scenario():
    future = new_future()
    tasks = [asyncio.create_task(body(i, future)) for i in range(3)]
    ticks = asyncio.create_task(ticker(4))
    await turns(1)
    tasks[0].cancel()
    future.set_result(1)
    tasks[1].cancel()
    trace("set between two cancels")
    await asyncio.wait([*tasks, ticks])
    trace("tasks %s %s %s", *map(state, tasks))
