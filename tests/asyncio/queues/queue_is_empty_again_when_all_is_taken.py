"""A queue is empty before the first item and after the last."""

from scenario import *

q = asyncio.Queue()


def look():
    trace("empty %d, %d in it", q.empty(), q.qsize())


async def scenario():
    look()
    await q.put(1)
    await q.put(2)
    look()
    trace("get: %d", await q.get())
    look()
    trace("get: %d", await q.get())
    look()
