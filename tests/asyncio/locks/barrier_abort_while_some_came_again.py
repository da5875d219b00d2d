"""Breaking a barrier while some of a round have not left and some have come again fails
them all.
"""

from scenario import *

barrier = asyncio.Barrier(5)
left = 0


async def party(name):
    global left
    end = await outcome(barrier.wait())
    trace("%s: %s", name, end)
    if end == "EPIPE":
        return
    left += 1
    if left > 2:
        await barrier.abort()
        trace("%s has broken it", name)
    else:
        trace("%s again: %s", name, await outcome(barrier.wait()))


async def scenario():
    await asyncio.gather(*[party(name) for name in "abcde"])
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
