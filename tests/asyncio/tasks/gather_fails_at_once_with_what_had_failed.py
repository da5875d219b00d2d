"""Among futures still pending one that has failed already ends the gather before any
turn.

Since: 3.12
"""

from scenario import *


async def scenario():
    first, failed, last = (new_future() for _ in range(3))
    failed.set_exception(Failure("EIO"))
    ticks = asyncio.create_task(ticker(1))
    trace("gather: %s", await outcome(asyncio.gather(first, failed, last)))
    trace("futures: %s %s %s", state(first), state(failed), state(last))
    first.set_result(1)
    last.set_exception(Failure("ENOENT"))
    trace("gather: %s", await outcome(asyncio.gather(first, last, failed)))
    await ticks
