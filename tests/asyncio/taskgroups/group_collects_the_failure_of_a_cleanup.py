"""What the body holds fails to close when a child has failed: two failures, and no request
is left.
"""

import contextlib

from scenario import *


@contextlib.asynccontextmanager
async def database():
    try:
        yield
    finally:
        trace("closes")
        raise Failure("EPROTO")


async def child():
    raise Failure("EIO")


async def owner():
    try:
        async with telling_group() as group:
            async with database():
                group.create_task(child())
                await tell("body", asyncio.sleep(1))
    finally:
        trace("cancelling %d", asyncio.current_task().cancelling())


async def scenario():
    trace("owner: %s", await outcome(owner()))
