"""Joining a queue into which nothing was put lets no turn pass, and does not the second
time; with an item in it, it waits.
"""

from scenario import *


async def check(q):
    asyncio.create_task(ticker(2))
    await q.join()
    trace("joined")
    await q.join()
    trace("joined again")
    q.put_nowait(1)
    task = asyncio.create_task(q.join())
    await turns(1)
    trace("with an item: %s", state(task))
    q.task_done()
    await turns(1)
    trace("it is done: %s", state(task))


async def scenario():
    for kind in asyncio.Queue, asyncio.LifoQueue, asyncio.PriorityQueue:
        trace(kind.__name__)
        await check(kind())
