"""A task that catches its cancellation and returns is done, not cancelled."""

from scenario import *


async def body(first, second):
    trace("first: %s", await outcome(first))
    trace("second: %s", await outcome(second))
    return 42


async def scenario():
    first, second = new_future(), new_future()
    task = asyncio.create_task(body(first, second))
    await turns(1)
    first.set_result(1)
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("second is %s", state(second))
    trace("awaited: %s", await outcome(task))
    trace("cancelled: %s", result_of(task.cancelled()))
