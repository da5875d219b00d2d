"""A task that is cancelled while it joins ends cancelled; another that joins goes on when
the work is done.
"""

from scenario import *

q = asyncio.Queue()


async def scenario():
    q.put_nowait(1)
    a = asyncio.create_task(q.join())
    b = asyncio.create_task(q.join())
    await turns(1)
    a.cancel()
    await turns(1)
    trace("a %s, b %s", state(a), state(b))
    trace("get: %d", await q.get())
    await turns(1)
    trace("b %s", state(b))
    q.task_done()
    await turns(1)
    trace("b %s", state(b))
