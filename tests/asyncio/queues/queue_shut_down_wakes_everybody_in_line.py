"""A shutdown sends all getters away in one turn, in the order in which they came, after
who was given an item before.

Since: 3.13
"""

from scenario import *

q = asyncio.Queue()


async def taker(name):
    trace("%s: %s", name, await outcome(q.get()))


async def scenario():
    for name in "abc":
        asyncio.create_task(taker(name))
    await turns(1)
    q.put_nowait(5)
    q.shutdown()
    trace("shut down: %d in it", q.qsize())
    await turns(1)
    trace("%d in it", q.qsize())
