"""A task that has caught a cancellation is cancelled once more in a block with a deadline:
that is no timeout.
"""

from scenario import *


async def cleanup():
    async with telling_timeout("timeout", 1):
        asyncio.current_task().cancel()
        await tell("cleanup", asyncio.sleep(10))


async def scenario():
    asyncio.current_task().cancel()
    trace("work: %s", await outcome(asyncio.sleep(1)))
    trace("caught %s", await outcome(cleanup()))
    trace("cancelling %d", asyncio.current_task().cancelling())
