"""wait() for all does not return for a failure, nor fail itself."""

from scenario import *


async def failer():
    await asyncio.sleep(1)
    trace("fails")
    raise Failure("EIO")


async def scenario():
    tasks = [asyncio.create_task(failer()), asyncio.create_task(asyncio.sleep(2))]
    for _ in range(2):
        done, pending = await asyncio.wait(tasks)
        trace("done %d, pending %d: %s %s", len(done), len(pending), *map(state, tasks))
