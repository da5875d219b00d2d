"""gather of tasks takes as long as the longest; results stand in the order of the
arguments."""

from scenario import *


async def body(delay):
    trace("%d begins", delay)
    await asyncio.sleep(delay)
    trace("%d ends", delay)
    return delay


async def scenario():
    for everything in False, True:
        tasks = [asyncio.create_task(body(delay)) for delay in (2, 3, 1)]
        results = await asyncio.gather(*tasks, return_exceptions=everything)
        trace("gathered %s", " ".join(map(str, results)))
