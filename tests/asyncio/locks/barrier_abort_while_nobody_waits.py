"""A barrier that was broken while nobody waited fails at once whoever comes."""

from scenario import *

barrier = asyncio.Barrier(1)


async def scenario():
    asyncio.create_task(ticker(1))
    trace("abort: %s", await outcome(barrier.abort()))
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
    trace("we: %s", await outcome(barrier.wait()))
    trace("abort again: %s", await outcome(barrier.abort()))
    trace("we: %s", await outcome(barrier.wait()))
