"""A task that catches its cancellation and takes it back sleeps on, until the next
one."""

from scenario import *


async def body():
    task = asyncio.current_task()
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        trace("caught; %d left", task.uncancel())
        await asyncio.sleep(10)


async def scenario():
    task = asyncio.create_task(body())
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("counted %d, %s", task.cancelling(), state(task))
    await asyncio.sleep(1)
    trace("counted %d, %s", task.cancelling(), state(task))
    trace("cancel: %s", result_of(task.cancel()))
    trace("counted %d, %s", task.cancelling(), state(task))
    trace("awaited: %s", await outcome(task))
    trace("counted %d, %s", task.cancelling(), state(task))
