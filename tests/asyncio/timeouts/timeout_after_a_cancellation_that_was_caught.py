"""A task that has caught a cancellation, whose request still counts, may time out as ever.

Since: 3.12 (and late releases of 3.11; Debian 12 has an early one)
"""

from scenario import *


async def cleanup():
    async with telling_timeout("timeout", 0):
        await tell("cleanup", asyncio.sleep(10))


async def scenario():
    asyncio.current_task().cancel()
    trace("work: %s", await outcome(asyncio.sleep(1)))
    trace("caught %s", await outcome(cleanup()))
    trace("cancelling %d", asyncio.current_task().cancelling())
