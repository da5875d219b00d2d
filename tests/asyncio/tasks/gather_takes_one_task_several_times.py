"""A task that is given to gather more than once runs once, and has its result in each
place."""

from scenario import *


async def body(value):
    trace("runs for %d", value)
    await asyncio.sleep(1)
    return value


async def scenario():
    a, b = asyncio.create_task(body(1)), asyncio.create_task(body(2))
    results = await asyncio.gather(a, a, b, a)
    trace("gathered %s", " ".join(map(str, results)))
