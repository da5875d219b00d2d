"""The result has passed the shield, and the waiter has not yet run: a cancel still
reaches it."""

from scenario import *


async def body(future):
    await tell("told", asyncio.shield(future))


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    future.add_done_callback(lambda _: trace("cancel: %s", result_of(task.cancel())))
    future.set_result(1)
    trace("awaited: %s", await outcome(task))
    trace("future: %s", state(future))
