"""A putter that is cancelled while the queue is full is forgotten: room that is made
later is for others.
"""

from scenario import *

q = asyncio.Queue(1)


async def scenario():
    q.put_nowait(1)
    a = asyncio.create_task(q.put(2))
    b = asyncio.create_task(q.put(3))
    await turns(1)
    trace("a %s, b %s", state(a), state(b))
    a.cancel()
    trace("a: %s", await outcome(a))
    trace("get: %s", attempt(q.get_nowait))
    await turns(1)
    trace("a %s, b %s", state(a), state(b))
    trace("get: %s", attempt(q.get_nowait))
