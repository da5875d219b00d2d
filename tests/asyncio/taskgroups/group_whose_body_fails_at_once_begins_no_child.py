"""Children of a body that fails before it waits for the first time never begin."""

from scenario import *

tasks = []


async def child():
    trace("never printed")


async def owner():
    async with telling_group() as group:
        for _ in range(2):
            tasks.append(group.create_task(child()))
        raise Failure("EIO")


async def scenario():
    asyncio.create_task(ticker(5))
    trace("owner: %s", await outcome(owner()))
    trace("children %s %s", state(tasks[0]), state(tasks[1]))
