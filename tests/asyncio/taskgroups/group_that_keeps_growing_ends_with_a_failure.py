"""Children that start two more each, for ever, are stopped by one that fails."""

from scenario import *

heads = 0


async def hydra(group):
    global heads
    heads += 1
    trace("head %d", heads)
    await asyncio.sleep(2)
    group.create_task(hydra(group))
    group.create_task(hydra(group))


async def hercules():
    while heads < 10:
        await asyncio.sleep(3)
    trace("enough")
    raise Failure("EIO")


async def owner():
    async with telling_group() as group:
        group.create_task(hydra(group))
        group.create_task(hercules())


async def scenario():
    trace("owner: %s", await outcome(owner()))
    trace("heads: %d", heads)
