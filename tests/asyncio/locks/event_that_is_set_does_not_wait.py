"""Waiting for an event that is set does not even let a turn pass."""

from scenario import *

event = asyncio.Event()


async def scenario():
    asyncio.create_task(ticker(2))
    event.set()
    for _ in range(3):
        await event.wait()
        trace("waited")
    await turns(1)
    await event.wait()
    trace("waited")
