"""A task that gathers two futures, behind a shield, gets both though its waiter is
cancelled."""

from scenario import *


async def gatherer(futures):
    trace("gathered %d and %d", *await asyncio.gather(*futures))


async def outer(task):
    await tell("outer", asyncio.shield(task))


async def scenario():
    futures = [new_future(), new_future()]
    inner = asyncio.create_task(gatherer(futures))
    waiter = asyncio.create_task(outer(inner))
    await turns(1)
    waiter.cancel()
    await turns(1)
    trace("waiter %s, futures %s %s", state(waiter), *map(state, futures))
    futures[0].set_result(1)
    futures[1].set_result(2)
    trace("inner: %s", await outcome(inner))
