"""A task that puts into a full queue goes on when a timer takes something out."""

from scenario import *

q = asyncio.Queue(1)
started = asyncio.Event()


async def giver():
    started.set()
    for item in 1, 2:
        await q.put(item)
        trace("put %d", item)


def take():
    trace("took %s", attempt(q.get_nowait))


async def scenario():
    asyncio.get_running_loop().call_later(4, take)
    task = asyncio.create_task(giver())
    await started.wait()
    trace("giver: %s", state(task))
    trace("giver: %s", await outcome(task))
    trace("%d in it", q.qsize())
