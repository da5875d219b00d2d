"""A shielded task goes on, and has not even begun, when there is no time to wait."""

from scenario import *


async def worker():
    await tell("worker", asyncio.sleep(3))
    return 5


async def scenario():
    task = asyncio.create_task(worker())
    asyncio.create_task(ticker(4))
    trace("wait_for: %s", await outcome(asyncio.wait_for(asyncio.shield(task), 0)))
    trace("task %s, cancelling %d", state(task), task.cancelling())
    trace("task: %s", await outcome(task))
