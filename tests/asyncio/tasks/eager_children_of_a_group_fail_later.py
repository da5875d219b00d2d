"""Eager children of a group that wait first and fail then cancel the others as any child does.

Since: 3.12
"""

from scenario import *


async def child(seconds):
    trace("child of %d s begins", seconds)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        trace("child of %d s is cancelled", seconds)
        raise
    raise Failure("EIO")


async def scenario():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(child(1))
            group.create_task(child(2))
            trace("body waits")
            await asyncio.sleep(5)
    except* Failure as failures:
        trace("failures: %d", len(failures.exceptions))
