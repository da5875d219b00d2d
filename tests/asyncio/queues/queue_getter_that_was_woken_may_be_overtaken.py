"""A getter that is woken for an item finds it taken by one who came without waiting, and
goes to the end of the line.
"""

from scenario import *

q = asyncio.Queue()


async def taker(name):
    trace("%s has %d", name, await q.get())


async def scenario():
    for name in "ab":
        asyncio.create_task(taker(name))
    await turns(1)
    q.put_nowait(1)
    trace("we have %s", attempt(q.get_nowait))
    await turns(1)
    for item in 2, 3:
        q.put_nowait(item)
    await turns(1)
    trace("%d in it", q.qsize())
