"""A semaphore that begins with nothing is locked until something is released."""

from scenario import *

slots = asyncio.Semaphore(0)


async def taker():
    await slots.acquire()
    trace("taken: locked %d", slots.locked())


async def scenario():
    trace("locked %d", slots.locked())
    asyncio.create_task(taker())
    await asyncio.sleep(1)
    trace("it waits: locked %d", slots.locked())
    slots.release()
    slots.release()
    trace("released twice: locked %d", slots.locked())
    await turns(1)
    trace("locked %d", slots.locked())
