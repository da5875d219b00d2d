"""A reset by the third of five to leave breaks those who have not left yet."""

from scenario import *

barrier = asyncio.Barrier(5)
left = 0


async def party(name):
    global left
    end = await outcome(barrier.wait())
    trace("%s: %s, %d wait", name, end, barrier.n_waiting)
    left += end != "EPIPE"
    if left == 3 and end != "EPIPE":
        await barrier.reset()
        trace("%s has reset: %d wait", name, barrier.n_waiting)


async def scenario():
    await asyncio.gather(*[party(name) for name in "abcde"])
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
