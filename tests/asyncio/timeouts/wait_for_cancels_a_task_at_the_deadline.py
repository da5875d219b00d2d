"""At the deadline the task is cancelled; when it has ended there is a timeout."""

from scenario import *


async def sleeper():
    try:
        return await tell("sleep", asyncio.sleep(10, 7))
    finally:
        trace("ends")


async def scenario():
    task = asyncio.create_task(sleeper())
    trace("wait_for: %s", await outcome(asyncio.wait_for(task, 2)))
    trace("task: %s", state(task))
    trace("cancelling %d and %d", task.cancelling(), asyncio.current_task().cancelling())
    await tell("sleep", asyncio.sleep(1))
