"""A task that puts where there is room is done when the one that waits for the item has
it.
"""

from scenario import *

q = asyncio.Queue()


async def putter():
    await q.put(1)
    trace("put")
    return 7


async def scenario():
    task = asyncio.create_task(putter())
    trace("get: %d", await q.get())
    trace("putter: %s", state(task))
