"""Getting twice from a queue for one gives the items of two tasks that put them, in
order.
"""

from scenario import *

q = asyncio.Queue(1)


async def putter(item):
    trace("puts %d", item)
    await q.put(item)
    trace("has put %d", item)


async def scenario():
    asyncio.create_task(putter(1))
    asyncio.create_task(putter(2))
    trace("get: %d", await q.get())
    trace("get: %d", await q.get())
    trace("empty %d", q.empty())
