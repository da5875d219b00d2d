"""A last in first out queue gives the newest item that is in it; its getters stand in
line as ever.
"""

from scenario import *

q = asyncio.LifoQueue(3)


async def taker(name):
    trace("%s has %d", name, await q.get())


async def scenario():
    for item in 1, 3, 2:
        await q.put(item)
    trace("full %d", q.full())
    trace("get: %d", await q.get())
    await q.put(4)
    for _ in range(3):
        trace("get: %d", await q.get())
    asyncio.create_task(taker("a"))
    asyncio.create_task(taker("b"))
    await turns(1)
    await q.put(5)
    await q.put(6)
    await turns(1)
    trace("%d in it", q.qsize())
