"""A broken barrier is whole again after a reset, for which the tasks meet at a second
barrier, so that nobody is at the first.
"""

from scenario import *

barrier = asyncio.Barrier(4)
elsewhere = asyncio.Barrier(4)


async def break_or_find_it_broken(name):
    index = await barrier.wait()
    if index == 2:
        trace("%s breaks it: %s", name, await outcome(barrier.abort()))
    else:
        trace("%s: %s", name, await outcome(barrier.wait()))


async def party(name):
    await break_or_find_it_broken(name)
    if await elsewhere.wait() == 2:
        trace("%s resets it: %s", name, await outcome(barrier.reset()))
    await elsewhere.wait()
    trace("%s at the end: %s", name, await outcome(barrier.wait()))


async def scenario():
    await asyncio.gather(*[party(name) for name in "abcd"])
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
