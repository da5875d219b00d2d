"""Each round has its own indexes, by the order of coming in that round."""

from scenario import *

barrier = asyncio.Barrier(4)


async def party(name):
    first = await barrier.wait()
    second = await barrier.wait()
    trace("%s: %d then %d", name, first, second)


async def scenario():
    await asyncio.gather(*[party(name) for name in "abcd"])
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
