"""With no time at all a task that has not begun never does."""

from scenario import *


async def never():
    trace("never printed")


async def scenario():
    asyncio.create_task(ticker(5))
    trace("wait_for: %s", await outcome(asyncio.wait_for(asyncio.create_task(never()), 0)))
