"""A release of a bounded semaphore goes to who waits for it, and then the semaphore is as
taken as it was.
"""

from scenario import *

slots = asyncio.BoundedSemaphore(1)


async def user(name):
    async with slots:
        trace("%s is in", name)
        await asyncio.sleep(2)
    trace("%s is out: locked %d", name, slots.locked())


async def scenario():
    await slots.acquire()
    a = asyncio.create_task(user("a"))
    b = asyncio.create_task(user("b"))
    await asyncio.sleep(1)
    slots.release()
    trace("released: locked %d", slots.locked())
    trace("a: %s", await outcome(a))
    trace("b: %s", await outcome(b))
    trace("locked %d", slots.locked())
