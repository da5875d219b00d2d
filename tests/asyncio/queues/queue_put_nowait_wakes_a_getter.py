"""An item that is put without waiting is for the getter that waits, in the next turn; the
putter does not wait for that.
"""

from scenario import *

q = asyncio.Queue()


async def taker():
    trace("has %d", await q.get())


async def scenario():
    asyncio.create_task(taker())
    await turns(1)
    q.put_nowait(1)
    trace("put: %d in it", q.qsize())
    q.put_nowait(2)
    await turns(1)
    trace("%d in it", q.qsize())
    trace("get: %s", attempt(q.get_nowait))
