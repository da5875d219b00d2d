"""A task that is cancelled while it waits at a barrier no longer counts: one more must
come in its stead.
"""

from scenario import *

barrier = asyncio.Barrier(3)


async def party(name):
    index = await barrier.wait()
    trace("%s passes: index %d", name, index)


async def scenario():
    a = asyncio.create_task(party("a"))
    b = asyncio.create_task(party("b"))
    await turns(1)
    trace("%d wait", barrier.n_waiting)
    a.cancel()
    await turns(1)
    trace("a %s, %d wait", state(a), barrier.n_waiting)
    asyncio.create_task(party("c"))
    await turns(1)
    trace("%d wait", barrier.n_waiting)
    d = asyncio.create_task(party("d"))
    await asyncio.gather(b, d)
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
