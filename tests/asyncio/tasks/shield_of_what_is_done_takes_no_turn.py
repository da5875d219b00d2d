"""A shield around a future that is done is that future: nothing else runs meanwhile."""

from scenario import *


async def scenario():
    future = new_future()
    future.set_result(42)
    ticks = asyncio.create_task(ticker(1))
    trace("shield: %s", await outcome(asyncio.shield(future)))
    trace("no turn has passed")
    failed = new_future()
    failed.set_exception(Failure("EIO"))
    trace("shield: %s", await outcome(asyncio.shield(failed)))
    await ticks
