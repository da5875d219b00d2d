"""Taking from an empty queue without waiting is an error, and takes nobody's place in the
line.
"""

from scenario import *

q = asyncio.Queue()


async def taker(name):
    trace("%s has %d", name, await q.get())


async def scenario():
    trace("get: %s", attempt(q.get_nowait))
    asyncio.create_task(taker("a"))
    await turns(1)
    trace("get: %s", attempt(q.get_nowait))
    await q.put(1)
    await q.put(2)
    trace("get: %s", attempt(q.get_nowait))
    trace("get: %s", attempt(q.get_nowait))
    trace("get: %s", attempt(q.get_nowait))
    await q.put(3)
    await turns(1)
