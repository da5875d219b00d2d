"""gather of no futures at all is done already, and so is one of futures that are done.

Since: 3.12
"""

from scenario import *


async def scenario():
    ticks = asyncio.create_task(ticker(2))
    trace("nothing: %s", await outcome(asyncio.gather()))
    trace("nothing, all: %s", await outcome(asyncio.gather(return_exceptions=True)))
    one, two = new_future(), new_future()
    one.set_result(1)
    two.set_exception(Failure("EIO"))
    trace("done: %s", await outcome(asyncio.gather(one, one)))
    trace("failed: %s", await outcome(asyncio.gather(one, two)))
    trace("no turn has passed")
    await ticks
