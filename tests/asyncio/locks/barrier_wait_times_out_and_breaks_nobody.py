"""A task that waits at a barrier for two seconds only leaves its place when they are
over; the barrier is not broken by that.
"""

from scenario import *

barrier = asyncio.Barrier(2)


async def impatient():
    async with asyncio.timeout(2):
        return await barrier.wait()


async def scenario():
    trace("alone: %s", await outcome(impatient()))
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
    task = asyncio.create_task(impatient())
    await asyncio.sleep(1)
    trace("we: %s", await outcome(barrier.wait()))
    trace("the other: %s", await outcome(task))
