"""What ends between the first end and the turn in which wait() goes on is done, too."""

from scenario import *


async def scenario():
    one = asyncio.create_task(turns(1))
    two = asyncio.create_task(turns(2))
    four = asyncio.create_task(turns(4))
    ticks = asyncio.create_task(ticker(5))
    done, _ = await asyncio.wait([four, two, one], return_when=asyncio.FIRST_COMPLETED)
    trace("done %d: %s %s %s", len(done), state(one), state(two), state(four))
    await ticks
