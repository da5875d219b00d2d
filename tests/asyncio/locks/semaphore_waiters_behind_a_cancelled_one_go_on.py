"""Waiters behind one that was cancelled and is gone go on in order."""

from scenario import *

slots = asyncio.Semaphore(0)


async def taker(name):
    await slots.acquire()
    trace("%s is in", name)


async def scenario():
    a, b, c = [asyncio.create_task(taker(name)) for name in "abc"]
    await turns(1)
    a.cancel()
    await turns(1)
    trace("a %s, locked %d", state(a), slots.locked())
    slots.release()
    slots.release()
    await asyncio.gather(a, b, c, return_exceptions=True)
    trace("a %s, b %s, c %s, locked %d", state(a), state(b), state(c), slots.locked())
