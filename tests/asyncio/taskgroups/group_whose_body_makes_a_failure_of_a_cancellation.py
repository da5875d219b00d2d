"""A body that fails when it is cancelled: the failure comes out of the group, and the
request still counts.
"""

from scenario import *


async def owner():
    try:
        async with telling_group():
            try:
                await tell("body", asyncio.sleep(10))
            except asyncio.CancelledError:
                raise Failure("EIO")
    finally:
        trace("cancelling: %d", asyncio.current_task().cancelling())


async def scenario():
    task = asyncio.create_task(owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
