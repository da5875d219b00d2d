"""Of three waiters two are notified and the first of them cancelled: the second and the
third go on.

Since: 3.13
"""

from scenario import *

changed = asyncio.Condition()


async def waiter(name):
    async with changed:
        await changed.wait()
        trace("%s goes on", name)


async def scenario():
    a, b, c = [asyncio.create_task(waiter(name)) for name in "abc"]
    await turns(1)
    async with changed:
        changed.notify(2)
        a.cancel()
    await turns(1)
    trace("a %s, b %s, c %s", state(a), state(b), state(c))
    await turns(1)
    trace("a %s, b %s, c %s", state(a), state(b), state(c))
