"""A reset by the last that leaves breaks nobody who has come again: the next round is
another.
"""

from scenario import *

barrier = asyncio.Barrier(4)
left = 0


async def party(name):
    global left
    trace("%s: %s", name, await outcome(barrier.wait()))
    left += 1
    if left == 4:
        await barrier.reset()
        trace("%s has reset: %d wait", name, barrier.n_waiting)
    trace("%s: second %s", name, await outcome(barrier.wait()))
    trace("%s: third %s", name, await outcome(barrier.wait()))


async def scenario():
    await asyncio.gather(*[party(name) for name in "abcd"])
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
