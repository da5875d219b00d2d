"""A task that fails as it is cancelled at the deadline: its failure is what comes of it.
"""

from scenario import *


async def failing():
    try:
        await tell("sleep", asyncio.sleep(10))
    finally:
        raise Failure("EIO")


async def scenario():
    for delay in 2, 0:
        task = asyncio.create_task(failing())
        await turns(1)
        trace("wait_for: %s", await outcome(asyncio.wait_for(task, delay)))
