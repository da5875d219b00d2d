"""An item that is put after the first getter was cancelled is for the second."""

from scenario import *

q = asyncio.Queue()


async def scenario():
    a = asyncio.create_task(q.get())
    b = asyncio.create_task(q.get())
    await turns(1)
    a.cancel()
    await turns(1)
    trace("a %s, b %s", state(a), state(b))
    await q.put(5)
    await turns(1)
    trace("a %s, b %s", state(a), state(b))
