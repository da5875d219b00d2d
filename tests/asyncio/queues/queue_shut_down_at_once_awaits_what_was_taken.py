"""After an immediate shutdown joining still waits for an item that was taken before and
is not dealt with.

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
    trace("get: %d", await q.get())
    q.shutdown(immediate=True)
    await turns(1)
    trace("%d in it, joiner %s", q.qsize(), state(joiner))
    trace("get: %s", await outcome(q.get()))
    trace("task_done: %s", task_done(q))
    trace("task_done: %s", task_done(q))
    await turns(1)
    trace("joiner %s", state(joiner))


async def scenario():
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await check(kind())
