"""A getter that was woken, and cancelled when its item was taken by another, wakes
nobody: there is nothing to go on with.
"""

from scenario import *

q = asyncio.Queue()


async def taker(name):
    trace("%s has %d", name, await q.get())


async def scenario():
    a = asyncio.create_task(taker("a"))
    b = asyncio.create_task(taker("b"))
    await turns(1)
    q.put_nowait(1)
    trace("we have %s", attempt(q.get_nowait))
    a.cancel()
    await turns(2)
    trace("a %s, b %s", state(a), state(b))
    q.put_nowait(2)
    await turns(1)
    trace("a %s, b %s", state(a), state(b))
