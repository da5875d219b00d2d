"""Resetting a barrier at which nobody waits does nothing, and lets no turn pass."""

from scenario import *

barrier = asyncio.Barrier(2)


async def scenario():
    asyncio.create_task(ticker(2))
    trace("reset: %s", await outcome(barrier.reset()))
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
    task = asyncio.create_task(barrier.wait())
    await turns(1)
    trace("we: %s", await outcome(barrier.wait()))
    trace("the other: %s", await outcome(task))
