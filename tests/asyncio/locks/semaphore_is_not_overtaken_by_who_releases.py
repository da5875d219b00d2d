"""A task that releases and acquires again at once goes behind those who wait already."""

from scenario import *

slots = asyncio.Semaphore(1)


async def once(name):
    await slots.acquire()
    trace("%s is in", name)


async def twice(name):
    await once(name)
    slots.release()
    await once(name + " again")


async def scenario():
    a = asyncio.create_task(once("a"))
    b = asyncio.create_task(twice("b"))
    c = asyncio.create_task(once("c"))
    await turns(1)
    slots.release()
    slots.release()
    trace("released twice")
    await asyncio.gather(a, b, c)
    trace("locked %d", slots.locked())
