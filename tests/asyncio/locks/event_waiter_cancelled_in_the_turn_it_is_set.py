"""A task that is cancelled right after the event was set is told that it was cancelled,
the other waiters that it is set.
"""

from scenario import *

event = asyncio.Event()


async def waiter(name):
    await event.wait()
    trace("%s goes on", name)


async def scenario():
    a = asyncio.create_task(waiter("a"))
    b = asyncio.create_task(waiter("b"))
    await turns(1)
    event.set()
    trace("cancel: %d", a.cancel())
    await turns(1)
    trace("a %s, b %s, set %d", state(a), state(b), event.is_set())
