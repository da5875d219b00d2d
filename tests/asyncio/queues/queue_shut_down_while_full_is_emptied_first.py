"""Shutting down a full queue of any kind sends a waiting putter away; the items in it can
still be taken, and joining it waits for them.

Since: 3.13
"""

from scenario import *


async def check(q):
    for item in 5, 7:
        q.put_nowait(item)
    joiner = asyncio.create_task(q.join())
    putter = asyncio.create_task(q.put(6))
    await turns(1)
    trace("putter %s", state(putter))
    q.shutdown()
    await turns(1)
    trace("putter %s, joiner %s, %d in it", state(putter), state(joiner), q.qsize())
    trace("put: %s", await outcome(q.put(8)))
    for _ in range(3):
        trace("get: %s", await outcome(q.get()))
    trace("get_nowait: %s", attempt(q.get_nowait))
    for _ in range(2):
        q.task_done()
        await turns(1)
        trace("joiner %s", state(joiner))


async def scenario():
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await check(kind(2))
