"""A shield does not hold off the cancellation of the future behind it."""

from scenario import *


async def body(future):
    await tell("told", asyncio.shield(future))


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    trace("cancel: %s", result_of(future.cancel()))
    await turns(1)
    trace("task %s", state(task))
    trace("awaited: %s, counted %d", await outcome(task), task.cancelling())
