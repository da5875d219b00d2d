"""The children have ended and gather has not yet returned: a cancel still reaches the
task."""

from scenario import *


async def child(future):
    return await future


async def outer(task):
    await tell("outer", asyncio.gather(task))


async def scenario():
    future = new_future()
    child_task = asyncio.create_task(child(future))
    task = asyncio.create_task(outer(child_task))
    await turns(1)

    def cancel(_):
        trace("child %s, cancel it: %s", state(child_task), result_of(child_task.cancel()))
        trace("cancel: %s", result_of(task.cancel()))

    future.add_done_callback(cancel)
    future.set_result(42)
    trace("outer task: %s", await outcome(task))
    trace("child %s", state(child_task))
