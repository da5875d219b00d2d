"""After three releases at once the first in line wakes the two behind it, all before
anything that begins later.

Since: 3.13
"""

from scenario import *

slots = asyncio.Semaphore(0)


async def late(name):
    trace("%s begins", name)


async def first():
    await slots.acquire()
    asyncio.create_task(late("d"))
    trace("a is in: locked %d", slots.locked())


async def second():
    for _ in range(3):
        slots.release()
    trace("b released three: locked %d", slots.locked())
    await slots.acquire()
    trace("b is in: locked %d", slots.locked())


async def third():
    await slots.acquire()
    trace("c is in: locked %d", slots.locked())


async def scenario():
    a = asyncio.create_task(first())
    b = asyncio.create_task(second())
    c = asyncio.create_task(third())
    await turns(1)
    trace("locked %d", slots.locked())
    await asyncio.gather(a, b, c)
    trace("locked %d", slots.locked())
