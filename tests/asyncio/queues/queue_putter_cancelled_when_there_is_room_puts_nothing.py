"""A putter that is cancelled in the turn in which room was made puts nothing; trying
again does.
"""

from scenario import *

q = asyncio.Queue(1)


async def scenario():
    q.put_nowait(1)
    first = asyncio.create_task(q.put(2))
    await turns(1)
    trace("get: %s", attempt(q.get_nowait))
    first.cancel()
    trace("first: %s, %d in it", await outcome(first), q.qsize())
    second = asyncio.create_task(q.put(3))
    trace("second: %s, %d in it", await outcome(second), q.qsize())
    trace("get: %s, %d in it", attempt(q.get_nowait), q.qsize())
