"""The future is set, its awaiter ready: cancelled before it runs, it never sees the
result."""

from scenario import *


async def body(future):
    await tell("first", future)


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    future.set_result(5)
    trace("cancel: %s", result_of(task.cancel()))
    trace("future %s, task %s", state(future), state(task))
    trace("awaited: %s", await outcome(task))
    trace("future %s", state(future))
