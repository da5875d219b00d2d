"""Saying more often that an item is dealt with than items were put is an error, for each
kind of queue.
"""

from scenario import *


def task_done(q):
    try:
        q.task_done()
    except ValueError:
        return "EINVAL"
    return "0"


async def check(q):
    trace("nothing was put: %s", task_done(q))
    await q.put(1)
    trace("one was put: %s", task_done(q))
    trace("again: %s", task_done(q))
    trace("get: %d", await q.get())
    trace("got: %s", task_done(q))


async def scenario():
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await check(kind())
