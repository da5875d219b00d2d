"""Two tasks await one future: cancelling either cancels the future, and with it the
other."""

from scenario import *


async def waiter(i, future):
    try:
        await tell("waiter %d" % i, future)
    finally:
        trace("counted: %d", asyncio.current_task().cancelling())


async def scenario():
    future = new_future()
    tasks = [asyncio.create_task(waiter(i, future)) for i in range(2)]
    await turns(2)
    trace("cancel: %s", result_of(tasks[1].cancel()))
    trace("future %s, tasks %s %s", state(future), *map(state, tasks))
    trace("cancel the future: %s", result_of(future.cancel()))
    await asyncio.wait(tasks)
    trace("future %s, tasks %s %s", state(future), *map(state, tasks))
