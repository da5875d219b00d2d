"""Between a release and the woken waiter's going on the lock is free, but a newcomer
stands in line all the same.
"""

from scenario import *

lock = asyncio.Lock()


async def taker(name):
    trace("%s wants it: locked %d", name, lock.locked())
    await lock.acquire()
    trace("%s has it", name)
    lock.release()


async def scenario():
    await lock.acquire()
    asyncio.create_task(taker("a"))
    await turns(1)
    lock.release()
    await taker("newcomer")
    trace("locked %d", lock.locked())
