"""Putting into a queue without a limit lets no turn pass, however much is in it."""

from scenario import *

q = asyncio.Queue()


async def scenario():
    asyncio.create_task(ticker(1))
    for item in range(1, 101):
        await q.put(item)
    trace("%d in it", q.qsize())
    trace("get: %d", await q.get())
