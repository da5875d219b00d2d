"""Joining a queue of any kind waits until its items are not only taken but dealt with,
here by two workers.
"""

from scenario import *

running = True


async def worker(name, q):
    while running:
        item = await q.get()
        trace("%s begins %d", name, item)
        await asyncio.sleep(item)
        q.task_done()


async def check(q):
    global running
    running = True
    for item in 2, 1, 3, 1:
        q.put_nowait(item)
    async with asyncio.TaskGroup() as group:
        group.create_task(worker("a", q))
        group.create_task(worker("b", q))
        await q.join()
        trace("all is done")
        running = False
        q.put_nowait(1)
        q.put_nowait(1)


async def scenario():
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await check(kind())
