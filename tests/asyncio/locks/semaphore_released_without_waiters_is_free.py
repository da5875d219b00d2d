"""A semaphore for which nobody waits is free at once when it is released, and may become
more than it was.
"""

from scenario import *

slots = asyncio.Semaphore(1)


async def scenario():
    asyncio.create_task(ticker(1))
    await slots.acquire()
    trace("locked %d", slots.locked())
    slots.release()
    trace("locked %d", slots.locked())
    slots.release()
    await slots.acquire()
    trace("one is taken: locked %d", slots.locked())
    await slots.acquire()
    trace("two are taken: locked %d", slots.locked())
