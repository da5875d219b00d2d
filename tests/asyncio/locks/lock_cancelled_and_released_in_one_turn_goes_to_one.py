"""A callback that cancels the first waiter and releases the lock lets exactly one other
have it.
"""

from scenario import *

lock = asyncio.Lock()


async def taker(name):
    trace("%s wants it", name)
    await lock.acquire()
    trace("%s has it", name)


async def scenario():
    def trigger():
        a.cancel()
        lock.release()

    await lock.acquire()
    a = asyncio.create_task(taker("a"))
    b = asyncio.create_task(taker("b"))
    c = asyncio.create_task(taker("c"))
    await turns(1)
    asyncio.get_running_loop().call_soon(trigger)
    trace("a: %s", await outcome(a))
    trace("b %s, c %s", state(b), state(c))
    c.cancel()
    await turns(1)
    trace("b %s, c %s", state(b), state(c))
