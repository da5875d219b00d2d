"""Who awaits a future that somebody cancels is cancelled by that, though nobody asked it
to."""

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
    trace("cancel: %s", result_of(future.cancel()))
    trace("future %s, task %s", state(future), state(task))
    trace("awaited: %s", await outcome(task))
    trace("future %s, task %s", state(future), state(task))
