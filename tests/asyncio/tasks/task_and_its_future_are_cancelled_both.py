"""A task whose future was cancelled just now may be cancelled too: it is told once."""

from scenario import *


async def body(future):
    try:
        await tell("told", future)
    finally:
        trace("counted: %d", asyncio.current_task().cancelling())


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    trace("cancel the future: %s", result_of(future.cancel()))
    trace("cancel the task: %s", result_of(task.cancel()))
    trace("future %s, task %s", state(future), state(task))
    trace("awaited: %s", await outcome(task))
