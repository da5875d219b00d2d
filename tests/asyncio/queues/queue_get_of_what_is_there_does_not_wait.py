"""Getting what is in the queue lets no turn pass; getting what is not, does."""

from scenario import *

q = asyncio.Queue()


async def scenario():
    asyncio.create_task(ticker(3))
    q.put_nowait(1)
    q.put_nowait(2)
    trace("get: %d", await q.get())
    trace("get: %d", await q.get())
    asyncio.get_running_loop().call_soon(q.put_nowait, 3)
    trace("get: %d", await q.get())
