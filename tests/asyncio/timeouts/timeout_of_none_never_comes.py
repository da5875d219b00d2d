"""Without a deadline nothing is cut off, however it is said."""

from scenario import *


async def scenario():
    async with telling_timeout("none", None) as scope:
        await tell("sleep", asyncio.sleep(1000))
        trace("deadline %s", "none" if scope.when() is None else "some")
    async with asyncio.timeout_at(None) as scope:
        await tell("sleep", asyncio.sleep(1000))
    trace("expired %d", scope.expired())
