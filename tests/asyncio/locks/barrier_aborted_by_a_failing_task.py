"""A task that fails between two rounds breaks the barrier, so that the others do not wait
for it in vain.
"""

from scenario import *

barrier = asyncio.Barrier(4)


async def party(name):
    try:
        async with barrier as index:
            trace("%s: index %d", name, index)
            if index == 2:
                raise Failure("EIO")
        trace("%s again: %s", name, await outcome(barrier.wait()))
    except Failure:
        trace("%s fails", name)
        await barrier.abort()


async def scenario():
    await asyncio.gather(*[party(name) for name in "abcd"])
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
