"""A producer and a consumer with a queue for one between them: neither waits when it need
not.
"""

from scenario import *

q = asyncio.Queue(1)


async def producer():
    for item in range(1, 6):
        await q.put(item)
        trace("put %d", item)


async def consumer():
    for _ in range(5):
        trace("got %d", await q.get())


async def scenario():
    async with asyncio.TaskGroup() as group:
        group.create_task(producer())
        group.create_task(consumer())
    trace("end")
