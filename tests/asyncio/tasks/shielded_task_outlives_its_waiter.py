"""A task behind a shield works on when its waiter is cancelled, and is not even told."""

from scenario import *


async def inner(future):
    await tell("inner", future)
    return asyncio.current_task().cancelling()


async def outer(task):
    await tell("outer", asyncio.shield(task))


async def scenario():
    future = new_future()
    inner_task = asyncio.create_task(inner(future))
    outer_task = asyncio.create_task(outer(inner_task))
    await turns(1)
    outer_task.cancel()
    trace("outer task: %s", await outcome(outer_task))
    future.set_result(1)
    trace("inner task: %s", await outcome(inner_task))
