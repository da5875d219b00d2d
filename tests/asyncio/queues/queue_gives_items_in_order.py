"""Items come out in the order in which they went in, also when the queue is filled and
emptied by turns.
"""

from scenario import *

q = asyncio.Queue()


async def scenario():
    for item in 1, 3, 2:
        await q.put(item)
    trace("get: %d", await q.get())
    for item in 9, 4:
        await q.put(item)
    for _ in range(4):
        trace("get: %d", await q.get())
