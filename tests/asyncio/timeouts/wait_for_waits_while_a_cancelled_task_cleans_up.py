"""A task that takes its time to end after it was cancelled is waited for, in time or late.
"""

from scenario import *


async def slow():
    try:
        await tell("sleep", asyncio.sleep(10))
    except asyncio.CancelledError:
        await tell("cleanup", asyncio.sleep(3))
        raise


async def scenario():
    for delay in 2, 0:
        task = asyncio.create_task(slow())
        await turns(1)
        trace("wait_for: %s", await outcome(asyncio.wait_for(task, delay)))
        trace("task: %s", state(task))
