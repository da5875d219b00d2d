"""A priority queue gives the least item that is in it, whenever it was put; its getters
stand in line as ever.
"""

from scenario import *

q = asyncio.PriorityQueue(5)


async def taker(name):
    trace("%s has %d", name, await q.get())


async def scenario():
    for item in 4, 1, 5, 3, 2:
        await q.put(item)
    trace("full %d", q.full())
    for _ in range(2):
        trace("get: %d", await q.get())
    await q.put(1)
    await q.put(9)
    for _ in range(5):
        trace("get: %d", await q.get())
    asyncio.create_task(taker("a"))
    asyncio.create_task(taker("b"))
    await turns(1)
    await q.put(6)
    await q.put(5)
    await turns(1)
    trace("%d in it", q.qsize())
