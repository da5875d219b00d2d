"""A task that gets from an empty queue goes on when a timer puts something in."""

from scenario import *

q = asyncio.Queue()
started = asyncio.Event()


async def taker():
    started.set()
    trace("wants one")
    item = await q.get()
    trace("has %d", item)
    return item


async def scenario():
    task = asyncio.create_task(taker())
    await started.wait()
    trace("it waits")
    asyncio.get_running_loop().call_later(3, q.put_nowait, 1)
    trace("taker: %s", await outcome(task))
