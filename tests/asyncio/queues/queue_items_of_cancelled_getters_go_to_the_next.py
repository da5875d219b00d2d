"""Two items for three getters, the first of whom is cancelled in the turn in which it was
woken: the other two have them.
"""

from scenario import *

q = asyncio.Queue()


async def taker(name):
    item = await q.get()
    trace("%s has %d", name, item)


async def scenario():
    a, b, c = [asyncio.create_task(taker(name)) for name in "abc"]
    await turns(1)
    q.put_nowait(1)
    q.put_nowait(2)
    a.cancel()
    trace("a: %s", await outcome(a))
    await turns(2)
    trace("b %s, c %s, %d in it", state(b), state(c), q.qsize())
