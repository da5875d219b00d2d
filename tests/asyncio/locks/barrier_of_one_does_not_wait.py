"""A barrier for one task lets it through without a turn of the loop."""

from scenario import *

barrier = asyncio.Barrier(1)


async def scenario():
    asyncio.create_task(ticker(1))
    async with barrier as index:
        trace("index %d, %d wait", index, barrier.n_waiting)
    trace("broken %d", barrier.broken)
