"""A task that catches its cancellation and returns a value: that is what comes of it, in
time or late.
"""

from scenario import *


async def catcher():
    trace("sleep: %s", await outcome(asyncio.sleep(10)))
    return 1


async def scenario():
    for delay in 2, 0:
        task = asyncio.create_task(catcher())
        await turns(1)
        trace("wait_for: %s", await outcome(asyncio.wait_for(task, delay)))
