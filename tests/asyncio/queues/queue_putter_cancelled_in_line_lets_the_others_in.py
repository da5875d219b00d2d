"""Of three putters at a queue for one, the last is cancelled: the second puts when the
first's item is taken, and the third never.
"""

from scenario import *

q = asyncio.Queue(1)


async def scenario():
    a, b, c = [asyncio.create_task(q.put(item)) for item in (1, 2, 3)]
    await turns(1)
    trace("a %s, b %s, c %s", state(a), state(b), state(c))
    c.cancel()
    await turns(1)
    trace("a %s, b %s, c %s", state(a), state(b), state(c))
    trace("get: %s", attempt(q.get_nowait))
    await turns(1)
    trace("get: %s", attempt(q.get_nowait))
    await turns(1)
    trace("get: %s", attempt(q.get_nowait))
    trace("b: %s", state(b))
