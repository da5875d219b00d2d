"""A deadline of now cuts off even what would only have let others run."""

from scenario import *


async def body():
    async with telling_timeout("timeout", 0):
        trace("begins")
        await tell("sleep", asyncio.sleep(0))


async def scenario():
    asyncio.create_task(ticker(5))
    trace("body: %s", await outcome(body()))
