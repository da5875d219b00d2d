"""With no time at all a task that runs is cancelled, and waited for."""

from scenario import *


async def sleeper():
    try:
        return await tell("sleep", asyncio.sleep(10, 7))
    finally:
        trace("ends")


async def scenario():
    for delay in 0, -1:
        task = asyncio.create_task(sleeper())
        await turns(1)
        asyncio.create_task(ticker(4))
        trace("wait_for: %s", await outcome(asyncio.wait_for(task, delay)))
        trace("task: %s", state(task))
        await turns(2)
