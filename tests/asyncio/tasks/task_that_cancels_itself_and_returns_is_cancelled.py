"""A task that returns with its own request not yet delivered ends cancelled, result or
not."""

from scenario import *


async def body(fails):
    trace("cancel: %s", result_of(asyncio.current_task().cancel()))
    if fails:
        raise Failure("EIO")
    return 12


async def scenario():
    for fails in False, True:
        task = asyncio.create_task(body(fails))
        trace("awaited: %s", await outcome(task))
        trace("counted: %d", task.cancelling())
        trace("cancel: %s", result_of(task.cancel()))
