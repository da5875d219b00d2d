"""Putting wakes the one who waited longest, and lets no turn pass."""

from scenario import *

q = asyncio.Queue()


async def taker(name):
    trace("%s has %d", name, await q.get())


async def scenario():
    asyncio.create_task(taker("a"))
    asyncio.create_task(taker("b"))
    await turns(1)
    await q.put(5)
    trace("put")
    await turns(1)
    await q.put(6)
    trace("put")
    await turns(1)
    trace("%d in it", q.qsize())
