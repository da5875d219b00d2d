"""A lock that is released right after its only waiter was cancelled goes to who comes in
the next turn.
"""

from scenario import *

lock = asyncio.Lock()


async def taker(name):
    await lock.acquire()
    trace("%s has it", name)


async def scenario():
    await lock.acquire()
    b = asyncio.create_task(taker("b"))
    await turns(1)
    c = asyncio.create_task(taker("c"))
    b.cancel()
    lock.release()
    trace("locked %d", lock.locked())
    await turns(1)
    trace("locked %d; b %s", lock.locked(), state(b))
    trace("c: %s", await outcome(c))
