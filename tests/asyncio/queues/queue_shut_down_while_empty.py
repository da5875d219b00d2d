"""Shutting down an empty queue of any kind sends a waiting getter away in the next turn,
and whoever comes after that; joining it does not wait.

Since: 3.13
"""

from scenario import *


async def check(q):
    task = asyncio.create_task(q.get())
    await turns(1)
    q.shutdown()
    trace("%d in it, the getter: %s", q.qsize(), state(task))
    trace("join: %s", await outcome(q.join()))
    await turns(1)
    trace("the getter: %s", state(task))
    trace("put: %s", await outcome(q.put(1)))
    trace("put_nowait: %s", attempt(q.put_nowait, 1))
    trace("get: %s", await outcome(q.get()))
    trace("get_nowait: %s", attempt(q.get_nowait))


async def scenario():
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await check(kind())
