"""A task that fails ends the gather, while its siblings run to their ends."""

from scenario import *


async def body(delay, failure=None):
    await asyncio.sleep(delay)
    trace("%d ends", delay)
    if failure:
        raise Failure(failure)


async def scenario():
    delays = (3, None), (1, None), (2, "EIO"), (4, "ENOENT")
    tasks = [asyncio.create_task(body(*each)) for each in delays]
    trace("gather: %s", await outcome(asyncio.gather(*tasks)))
    trace("tasks: %s", " ".join(map(state, tasks)))
    await asyncio.sleep(3)
    trace("tasks: %s", " ".join(map(state, tasks)))
    trace("gather of all: %s", await outcome(asyncio.gather(*tasks, return_exceptions=True)))
    trace("gather: %s", await outcome(asyncio.gather(*tasks)))
