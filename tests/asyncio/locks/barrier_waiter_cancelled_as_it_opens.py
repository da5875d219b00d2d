"""A task that is cancelled in the turn in which the barrier opens is cancelled; the
others pass, and the next round fills.
"""

from scenario import *

barrier = asyncio.Barrier(3)


async def party(name):
    trace("%s passes: index %d", name, await barrier.wait())


async def scenario():
    a = asyncio.create_task(party("a"))
    b = asyncio.create_task(party("b"))
    await turns(1)
    trace("we pass: index %d", await barrier.wait())
    a.cancel()
    await turns(1)
    trace("a %s, b %s, %d wait", state(a), state(b), barrier.n_waiting)
    asyncio.create_task(party("c"))
    asyncio.create_task(party("d"))
    asyncio.create_task(party("e"))
    await turns(2)
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
