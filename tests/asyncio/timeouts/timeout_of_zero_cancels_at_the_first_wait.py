"""A deadline of now lets the block begin, and cuts off its first wait."""

from scenario import *


async def body():
    async with telling_timeout("timeout", 0):
        trace("begins")
        await tell("sleep", asyncio.sleep(10))


async def scenario():
    asyncio.create_task(ticker(5))
    trace("body: %s", await outcome(body()))
