"""A reset while some of a round have not left and some have come again breaks the former;
the latter wait on, and all meet in the next round.
"""

from scenario import *

barrier = asyncio.Barrier(5)
left = 0


async def again(name):
    trace("%s again: %s", name, await outcome(barrier.wait()))


async def party(name):
    global left
    end = await outcome(barrier.wait())
    trace("%s: %s", name, end)
    if end != "EPIPE":
        left += 1
        if left > 2:
            await barrier.reset()
            trace("%s has reset", name)
    await again(name)


async def scenario():
    await asyncio.gather(*[party(name) for name in "abcde"])
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
