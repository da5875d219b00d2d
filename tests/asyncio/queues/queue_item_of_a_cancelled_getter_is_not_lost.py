"""A getter that is cancelled in the turn in which it was woken leaves the item: who gets
next has the first, not the second.
"""

from scenario import *

q = asyncio.Queue()


async def scenario():
    first = asyncio.create_task(q.get())
    await turns(1)
    q.put_nowait(1)
    q.put_nowait(2)
    first.cancel()
    trace("first: %s, %d in it", await outcome(first), q.qsize())
    second = asyncio.create_task(q.get())
    trace("second: %s, %d in it", await outcome(second), q.qsize())
