"""A putter that is woken for room finds it taken by one who came without waiting, and
goes to the end of the line.
"""

from scenario import *

q = asyncio.Queue(1)


async def putter(item):
    await q.put(item)
    trace("put %d", item)


async def scenario():
    q.put_nowait(1)
    for item in 2, 3:
        asyncio.create_task(putter(item))
    await turns(1)
    trace("get: %s", attempt(q.get_nowait))
    trace("put: %s", attempt(q.put_nowait, 4))
    await turns(1)
    for _ in range(3):
        trace("get: %s", attempt(q.get_nowait))
        await turns(1)
