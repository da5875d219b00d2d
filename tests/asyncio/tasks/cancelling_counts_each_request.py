"""Each request to cancel is counted, and the task is cancelled once."""

from scenario import *


async def body():
    try:
        await tell("told", asyncio.sleep(10))
    finally:
        trace("counted inside: %d", asyncio.current_task().cancelling())


async def scenario():
    task = asyncio.create_task(body())
    await turns(1)
    trace("counted: %d", task.cancelling())
    trace("cancel: %s", result_of(task.cancel()))
    trace("counted: %d", task.cancelling())
    trace("cancel: %s", result_of(task.cancel()))
    trace("counted: %d", task.cancelling())
    trace("awaited: %s", await outcome(task))
    trace("cancel: %s", result_of(task.cancel()))
    trace("counted: %d", task.cancelling())
