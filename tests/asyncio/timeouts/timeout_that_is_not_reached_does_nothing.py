"""A block that is left in time: its deadline never happens."""

from scenario import *


async def scenario():
    async with telling_timeout("timeout", 3) as scope:
        await tell("sleep", asyncio.sleep(1))
        trace("deadline %d", scope.when())
    await tell("sleep", asyncio.sleep(10))
