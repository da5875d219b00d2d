"""The last task has ended and wait() has not yet returned: a cancel still comes
through."""

from scenario import *


async def body(future):
    await tell("wait", asyncio.wait([future]))


async def scenario():
    for delay in 0, 1, 2:
        future = new_future()
        task = asyncio.create_task(body(future))
        await turns(1)
        future.set_result(1)
        await turns(delay)
        trace("after %d: task %s", delay, state(task))
        trace("cancel: %s", result_of(task.cancel()))
        trace("awaited: %s, future %s", await outcome(task), state(future))
