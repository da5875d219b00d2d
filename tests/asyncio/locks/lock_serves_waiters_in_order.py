"""A lock that is released goes to who waited longest, in the next turn, and to nobody
before it is released again.
"""

from scenario import *

lock = asyncio.Lock()


async def taker(name):
    await lock.acquire()
    trace("%s has it", name)


async def scenario():
    await lock.acquire()
    asyncio.create_task(taker("a"))
    asyncio.create_task(taker("b"))
    await turns(1)
    trace("they wait")
    lock.release()
    trace("released: locked %d", lock.locked())
    await turns(1)
    trace("locked %d", lock.locked())
    await turns(1)
    asyncio.create_task(taker("c"))
    lock.release()
    await turns(1)
    lock.release()
    trace("released again")
    await turns(1)
    trace("locked %d", lock.locked())
