"""A group is cut off by a deadline, and its child fails as it is cancelled: the block
comes to that failure.
"""

from scenario import *


async def child():
    try:
        await tell("child", asyncio.sleep(2))
    finally:
        raise Failure("EIO")


async def body():
    async with telling_timeout("timeout", 1):
        async with telling_group() as group:
            group.create_task(child())
            await tell("body", asyncio.sleep(5))


async def scenario():
    trace("body: %s", await outcome(body()))
    trace("cancelling %d", asyncio.current_task().cancelling())
    await tell("sleep", asyncio.sleep(1))
