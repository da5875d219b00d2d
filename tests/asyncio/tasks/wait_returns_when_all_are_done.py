"""wait() returns with the last of its tasks; once all are done it takes no time, but
turns."""

from scenario import *


async def scenario():
    tasks = [asyncio.create_task(asyncio.sleep(delay)) for delay in (2, 3)]
    for _ in range(2):
        ticks = asyncio.create_task(ticker(3))
        done, pending = await asyncio.wait(tasks)
        trace("done %d, pending %d", len(done), len(pending))
        await ticks
