"""Children that end early leave nothing to wait for."""

from scenario import *


async def child(name):
    trace("%d begins", name)
    await tell(str(name), asyncio.sleep(3))


async def scenario():
    async with telling_group() as group:
        for name in range(5):
            await asyncio.sleep(1)
            group.create_task(child(name))
        await tell("body", asyncio.sleep(4))
        asyncio.create_task(ticker(3))
