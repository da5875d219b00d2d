"""A waiter that is cancelled in the turn in which the lock was released to it passes it
on.
"""

from scenario import *

lock = asyncio.Lock()


async def taker(name):
    await lock.acquire()
    trace("%s has it", name)


async def scenario():
    await lock.acquire()
    b = asyncio.create_task(taker("b"))
    c = asyncio.create_task(taker("c"))
    await turns(1)
    lock.release()
    b.cancel()
    await turns(1)
    trace("b %s, c %s, locked %d", state(b), state(c), lock.locked())
    await turns(1)
    trace("b %s, c %s, locked %d", state(b), state(c), lock.locked())
