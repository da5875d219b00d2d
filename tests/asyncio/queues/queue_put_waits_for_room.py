"""A task that puts three items into a queue for two waits with the third, and goes on in
the turn after one was taken.
"""

from scenario import *

q = asyncio.Queue(2)


async def put_three():
    for item in 1, 2, 3:
        await q.put(item)
        trace("put %d", item)


async def scenario():
    task = asyncio.create_task(put_three())
    await turns(2)
    trace("%d in it", q.qsize())
    trace("get: %d", await q.get())
    trace("%d in it", q.qsize())
    await turns(1)
    trace("%d in it, the task: %s", q.qsize(), state(task))
    trace("get: %d", await q.get())
    trace("get: %d", await q.get())
