"""Setting an event wakes who waits for it, even if it is cleared before they go on."""

from scenario import *

event = asyncio.Event()


async def waiter():
    await event.wait()
    trace("goes on: set %d", event.is_set())


async def scenario():
    task = asyncio.create_task(waiter())
    await turns(1)
    trace("it waits")
    event.set()
    event.clear()
    trace("set %d", event.is_set())
    event.set()
    event.set()
    event.clear()
    await turns(1)
    trace("waiter: %s", state(task))
