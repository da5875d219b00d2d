"""Two asked the task to end; one request that is taken back leaves the other's count."""

from scenario import *


async def body():
    task = asyncio.current_task()
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        trace("caught, counted %d", task.cancelling())
        trace("%d left", task.uncancel())
    await tell("sleeps on", asyncio.sleep(1))
    trace("counted %d", task.cancelling())
    return 2


async def scenario():
    task = asyncio.create_task(body())
    await turns(1)
    for _ in range(2):
        trace("cancel: %s", result_of(task.cancel()))
    trace("awaited: %s", await outcome(task))
    trace("counted %d", task.cancelling())
