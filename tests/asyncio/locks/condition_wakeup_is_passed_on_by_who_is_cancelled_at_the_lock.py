"""A notification is not lost where the one who was notified is cancelled while it takes
the lock back.

Since: 3.13
"""

from scenario import *

changed = asyncio.Condition()
items = 0


async def consumer(name):
    global items
    async with changed:
        await changed.wait_for(lambda: items > 0)
        items -= 1
        trace("%s takes it", name)
        changed.notify_all()


async def scenario():
    global items
    a = asyncio.create_task(consumer("a"))
    b = asyncio.create_task(consumer("b"))
    await turns(1)
    async with changed:
        items = 1
        changed.notify()
        await turns(1)
        a.cancel()
        trace("one item, a %s", state(a))
        async with asyncio.timeout(5):
            await changed.wait_for(lambda: items == 0)
        trace("taken")
    trace("a: %s", await outcome(a))
    trace("b: %s", await outcome(b))
