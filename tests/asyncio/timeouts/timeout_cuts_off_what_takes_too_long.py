"""What waits when the deadline passes is cancelled, and the block times out; no request is
left.
"""

from scenario import *


async def body():
    async with telling_timeout("timeout", 1):
        await tell("sleep", asyncio.sleep(10))


async def scenario():
    trace("body: %s", await outcome(body()))
    trace("cancelling %d", asyncio.current_task().cancelling())
    await tell("sleep", asyncio.sleep(1))
