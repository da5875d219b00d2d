"""A semaphore of three admits three; who comes after that goes on in the order of coming,
one for each release, and who comes late stands behind them.
"""

from scenario import *

slots = asyncio.Semaphore(3)


async def taker(name):
    await slots.acquire()
    trace("%s is in", name)


async def scenario():
    await slots.acquire()
    await slots.acquire()
    trace("two are in: locked %d", slots.locked())
    for name in "abc":
        asyncio.create_task(taker(name))
    await turns(1)
    trace("locked %d", slots.locked())
    asyncio.create_task(taker("d"))
    slots.release()
    slots.release()
    await turns(1)
    trace("two released: locked %d", slots.locked())
    slots.release()
    await turns(1)
    trace("three released: locked %d", slots.locked())
