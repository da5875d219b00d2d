"""A task that has caught its cancellation may await something else, which is not
cancelled."""

from scenario import *


async def body(futures):
    for i, future in enumerate(futures):
        trace("%d: %s", i, await outcome(future))
    return 42


async def scenario():
    futures = [new_future() for _ in range(3)]
    task = asyncio.create_task(body(futures))
    await turns(1)
    futures[0].set_result(1)
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    await turns(1)
    trace("task %s, counted %d", state(task), task.cancelling())
    trace("set the cancelled one: %s", attempt(futures[1].set_result, 2))
    futures[2].set_result(3)
    trace("awaited: %s", await outcome(task))
    trace("futures: %s %s %s", *map(state, futures))
