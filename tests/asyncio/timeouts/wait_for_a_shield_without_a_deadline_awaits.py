"""Without a deadline a shielded task is awaited to its end."""

from scenario import *


async def worker():
    await tell("worker", asyncio.sleep(3))
    return 5


async def scenario():
    task = asyncio.create_task(worker())
    trace("wait_for: %s", await outcome(asyncio.wait_for(asyncio.shield(task), None)))
    trace("task %s, cancelling %d", state(task), task.cancelling())
    trace("task: %s", await outcome(task))
