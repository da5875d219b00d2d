"""A putter that is cancelled after room was made for it leaves the room to the next in
line.
"""

from scenario import *

q = asyncio.Queue(1)


async def scenario():
    q.put_nowait(1)
    a = asyncio.create_task(q.put(2))
    b = asyncio.create_task(q.put(3))
    await turns(1)
    trace("get: %s", attempt(q.get_nowait))
    a.cancel()
    trace("a: %s", await outcome(a))
    await turns(1)
    trace("b %s, %d in it", state(b), q.qsize())
    trace("get: %s", attempt(q.get_nowait))
