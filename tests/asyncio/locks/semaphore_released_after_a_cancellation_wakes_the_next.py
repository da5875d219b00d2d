"""A release right after the first in line was cancelled is not lost on it: the next goes
on.
"""

from scenario import *

slots = asyncio.Semaphore(0)


async def taker(name):
    await slots.acquire()
    trace("%s is in", name)


async def scenario():
    a = asyncio.create_task(taker("a"))
    b = asyncio.create_task(taker("b"))
    await turns(1)
    a.cancel()
    slots.release()
    trace("locked %d", slots.locked())
    await turns(1)
    trace("a %s, b %s, locked %d", state(a), state(b), slots.locked())
    await turns(1)
    trace("a %s, b %s, locked %d", state(a), state(b), slots.locked())
