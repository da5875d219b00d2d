"""Putting into a full queue without waiting is an error and puts nothing."""

from scenario import *

q = asyncio.Queue(1)


async def scenario():
    asyncio.create_task(ticker(1))
    trace("put: %s", attempt(q.put_nowait, 1))
    trace("put: %s, %d in it", attempt(q.put_nowait, 2), q.qsize())
    trace("get: %s", attempt(q.get_nowait))
    trace("put: %s", attempt(q.put_nowait, 3))
    trace("get: %s", attempt(q.get_nowait))
