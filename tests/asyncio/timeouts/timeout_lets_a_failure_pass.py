"""A block that fails by itself fails with that, in time or late."""

from scenario import *


async def in_time():
    async with telling_timeout("timeout", 1):
        raise Failure("EIO")


async def late():
    async with telling_timeout("timeout", 1):
        try:
            await tell("sleep", asyncio.sleep(10))
        finally:
            raise Failure("EPROTO")


async def scenario():
    trace("in time: %s", await outcome(in_time()))
    trace("late: %s", await outcome(late()))
    trace("cancelling %d", asyncio.current_task().cancelling())
    await tell("sleep", asyncio.sleep(10))
