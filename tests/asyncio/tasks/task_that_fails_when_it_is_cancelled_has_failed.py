"""A task that answers its cancellation with a failure has failed and is not cancelled."""

from scenario import *


async def body():
    trace("slept: %s", await outcome(asyncio.sleep(10)))
    raise Failure("EIO")


async def scenario():
    task = asyncio.create_task(body())
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("state: %s", state(task))
    await turns(1)
    trace("state: %s, cancelled: %s", state(task), result_of(task.cancelled()))
    trace("awaited: %s", await outcome(task))
