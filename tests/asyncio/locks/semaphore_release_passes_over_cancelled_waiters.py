"""Where the first two in line are cancelled in the turn of the release, the third goes
on, and only the third.
"""

from scenario import *

slots = asyncio.Semaphore(0)


async def taker(name):
    await slots.acquire()
    trace("%s is in", name)


async def scenario():
    a, b, c, d = [asyncio.create_task(taker(name)) for name in "abcd"]
    await turns(1)
    a.cancel()
    b.cancel()
    slots.release()
    trace("released")
    await turns(2)
    trace("a %s, b %s, c %s, d %s", state(a), state(b), state(c), state(d))
    d.cancel()
    await turns(1)
    trace("d %s, locked %d", state(d), slots.locked())
