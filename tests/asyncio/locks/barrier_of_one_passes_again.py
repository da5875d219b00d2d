"""A barrier can be passed again as soon as the round before has left: each time with
index 0 where it is for one.
"""

from scenario import *

barrier = asyncio.Barrier(1)


async def scenario():
    for name in "ab":
        task = asyncio.create_task(barrier.wait())
        await turns(1)
        trace("%s: %s, %d wait", name, state(task), barrier.n_waiting)
    trace("we: %s", await outcome(barrier.wait()))
    trace("we again: %s", await outcome(barrier.wait()))
