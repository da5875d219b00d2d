"""Shutting down a queue of any kind immediately empties it, and what was in it counts as
dealt with.

Since: 3.13
"""

from scenario import *


def task_done(q):
    try:
        q.task_done()
    except ValueError:
        return "EINVAL"
    return "0"


async def check(q):
    q.put_nowait(1)
    q.put_nowait(2)
    joiner = asyncio.create_task(q.join())
    await turns(1)
    q.shutdown(immediate=True)
    trace("%d in it, joiner %s", q.qsize(), state(joiner))
    await turns(1)
    trace("joiner %s", state(joiner))
    trace("put: %s", await outcome(q.put(3)))
    trace("get: %s", await outcome(q.get()))
    trace("task_done: %s", task_done(q))


async def scenario():
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await check(kind())
