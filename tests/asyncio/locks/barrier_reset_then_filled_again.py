"""Tasks that a reset sent away may come again; with one more they pass."""

from scenario import *

barrier = asyncio.Barrier(4)


async def party(name):
    trace("%s: %s", name, await outcome(barrier.wait()))
    trace("%s again: %s", name, await outcome(barrier.wait()))


async def last():
    trace("the last: %s", await outcome(barrier.wait()))


async def scenario():
    for name in "abc":
        asyncio.create_task(party(name))
    asyncio.create_task(barrier.reset())
    await turns(1)
    trace("%d wait", barrier.n_waiting)
    asyncio.create_task(last())
    await turns(3)
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
