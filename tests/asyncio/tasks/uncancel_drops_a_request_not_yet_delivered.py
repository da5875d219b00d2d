"""A task that asks itself to end and takes that back before it waits hears nothing of it.

Since: 3.13
"""

from scenario import *


async def body(future):
    task = asyncio.current_task()
    task.cancel()
    task.cancel()
    trace("counted %d", task.cancelling())
    trace("%d left", task.uncancel())
    trace("%d left", task.uncancel())
    trace("%d left", task.uncancel())
    trace("future: %s", await outcome(future))
    return 42


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    future.set_result(7)
    trace("awaited: %s", await outcome(task))
