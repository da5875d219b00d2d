"""Cancelling a gather cancels tasks that wait behind shields, and not what they wait
for."""

from scenario import *


async def waiter(i, future):
    await tell("waiter %d" % i, asyncio.shield(future))


async def gatherer(tasks):
    await tell("gather", asyncio.gather(*tasks))


async def scenario():
    futures = [new_future(), new_future()]
    tasks = [asyncio.create_task(waiter(i, f)) for i, f in enumerate(futures)]
    parent = asyncio.create_task(gatherer(tasks))
    await turns(1)
    parent.cancel()
    trace("parent: %s", await outcome(parent))
    trace("tasks %s %s", *map(state, tasks))
    trace("futures %s %s", *map(state, futures))
    futures[0].set_result(1)
    await turns(2)
    trace("futures %s %s", *map(state, futures))
