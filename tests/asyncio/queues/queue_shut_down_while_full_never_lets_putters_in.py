"""Putters that waited when the queue was shut down put nothing, even if there is room by
the time they go on.

Since: 3.13
"""

from scenario import *

q = asyncio.Queue(1)


async def putter(item):
    trace("%d: %s", item, await outcome(q.put(item)))


async def scenario():
    for item in 1, 2, 3:
        asyncio.create_task(putter(item))
    await turns(1)
    q.shutdown()
    trace("get: %s", attempt(q.get_nowait))
    await turns(1)
    trace("%d in it", q.qsize())
