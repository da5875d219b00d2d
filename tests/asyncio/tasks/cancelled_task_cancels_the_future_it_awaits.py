"""Cancelling a task cancels the future it waits for at once, and the task one turn
later."""

from scenario import *


async def scenario():
    future = new_future()

    async def body():
        return await tell("told", future)

    task = asyncio.create_task(body())
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("future %s, task %s", state(future), state(task))
    await turns(1)
    trace("future %s, task %s", state(future), state(task))
    trace("awaited: %s", await outcome(task))
