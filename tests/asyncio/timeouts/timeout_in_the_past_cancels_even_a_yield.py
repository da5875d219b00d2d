"""A deadline long past is as good as now."""

from scenario import *


async def body():
    async with telling_timeout("timeout", -11):
        trace("begins")
        await tell("sleep", asyncio.sleep(0))


async def scenario():
    asyncio.create_task(ticker(5))
    trace("body: %s", await outcome(body()))
