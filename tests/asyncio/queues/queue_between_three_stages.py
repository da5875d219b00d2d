"""A pipeline of three tasks with bounded queues between them: the slow last stage holds
up the first.

Since: 3.13
"""

from scenario import *

first = asyncio.Queue(1)
second = asyncio.Queue(1)


async def produce():
    for item in 1, 2, 3, 4:
        await first.put(item)
        trace("produced %d", item)
    first.shutdown()


async def double_all():
    try:
        while True:
            await second.put(2 * await first.get())
    except asyncio.QueueShutDown:
        second.shutdown()
        trace("doubled all")


async def scenario():
    asyncio.create_task(produce())
    asyncio.create_task(double_all())
    try:
        while True:
            trace("got %d", await second.get())
            await asyncio.sleep(1)
    except asyncio.QueueShutDown:
        trace("end")
