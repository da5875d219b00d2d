"""A reset sends the tasks away that wait at a barrier; the barrier itself is not broken.
"""

from scenario import *

barrier = asyncio.Barrier(4)


async def party(name):
    trace("%s: %s", name, await outcome(barrier.wait()))


async def resetter():
    trace("resets while %d wait", barrier.n_waiting)
    await barrier.reset()
    trace("has reset: %d wait, broken %d", barrier.n_waiting, barrier.broken)


async def scenario():
    tasks = [asyncio.create_task(party(name)) for name in "abc"]
    await turns(1)
    asyncio.create_task(resetter())
    await asyncio.gather(*tasks)
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
