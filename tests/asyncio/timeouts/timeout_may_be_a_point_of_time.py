"""A deadline may be given as a point of the loop's time."""

from scenario import *


async def body(deadline):
    async with asyncio.timeout_at(deadline) as scope:
        trace("deadline %d", scope.when())
        await tell("sleep", asyncio.sleep(10))


async def scenario():
    await asyncio.sleep(2)
    trace("body: %s", await outcome(body(5)))
    trace("body: %s", await outcome(body(5)))
