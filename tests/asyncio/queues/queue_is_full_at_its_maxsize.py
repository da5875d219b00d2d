"""A queue without a limit is never full; one with a limit is when it holds so many items.
"""

from scenario import *


async def fill(q):
    trace("maxsize %d", q.maxsize)
    for item in 1, 2, 3:
        trace("put: %s; full %d", attempt(q.put_nowait, item), q.full())
    trace("get: %d; full %d", await q.get(), q.full())


async def scenario():
    await fill(asyncio.Queue())
    await fill(asyncio.Queue(2))
