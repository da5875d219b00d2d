"""An event that is cleared makes who comes then wait until it is set again."""

from scenario import *

event = asyncio.Event()


async def waiter():
    await event.wait()
    trace("goes on")


async def scenario():
    trace("new: %d", event.is_set())
    event.set()
    trace("set: %d", event.is_set())
    event.clear()
    trace("cleared: %d", event.is_set())
    asyncio.create_task(waiter())
    await asyncio.sleep(1)
    trace("it waits")
    event.set()
    await turns(1)
    trace("set: %d", event.is_set())
