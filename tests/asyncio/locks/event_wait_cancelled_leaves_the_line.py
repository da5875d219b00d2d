"""A task that is cancelled while it waits for an event ends cancelled; setting it later
wakes the others only.
"""

from scenario import *

event = asyncio.Event()


async def waiter(name):
    await event.wait()
    trace("%s goes on", name)


async def scenario():
    a = asyncio.create_task(waiter("a"))
    b = asyncio.create_task(waiter("b"))
    asyncio.get_running_loop().call_soon(a.cancel)
    trace("a: %s", await outcome(a))
    trace("set %d; b %s", event.is_set(), state(b))
    event.set()
    trace("b: %s", await outcome(b))
