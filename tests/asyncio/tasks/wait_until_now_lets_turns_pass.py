"""wait() until now is a look around: it returns in the turn after its timer has run."""

from scenario import *


async def scenario():
    tasks = [asyncio.create_task(turns(1)), asyncio.create_task(asyncio.sleep(1))]
    for timeout in 0, -1:
        ticks = asyncio.create_task(ticker(4))
        done, pending = await asyncio.wait(tasks, timeout=timeout)
        trace("done %d, pending %d", len(done), len(pending))
        await ticks
    await asyncio.wait(tasks)
