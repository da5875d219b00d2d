"""Taking an item wakes the one who waited longest to put one, and only that one."""

from scenario import *

q = asyncio.Queue(1)


async def putter(item):
    await q.put(item)
    trace("put %d", item)


async def scenario():
    for item in 1, 2, 3:
        asyncio.create_task(putter(item))
    await turns(1)
    for _ in range(3):
        trace("get: %d", await q.get())
        await turns(2)
