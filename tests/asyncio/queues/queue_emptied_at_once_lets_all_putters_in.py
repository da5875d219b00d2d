"""Where a full queue is emptied in one turn, each item that was taken lets one of those
in who wait.
"""

from scenario import *

q = asyncio.Queue(2)


async def putter(item):
    await q.put(item)
    trace("put %d", item)


async def taker():
    await turns(1)
    count = q.qsize()
    trace("takes %d", count)
    for _ in range(count):
        q.get_nowait()


async def scenario():
    async with asyncio.TaskGroup() as group:
        group.create_task(taker())
        for item in 1, 2, 3, 4:
            group.create_task(putter(item))
    trace("%d in it", q.qsize())
