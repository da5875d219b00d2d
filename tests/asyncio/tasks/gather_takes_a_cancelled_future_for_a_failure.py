"""A future that is cancelled ends the gather it is in; the other futures are not
cancelled."""

from scenario import *


async def body(futures):
    try:
        await tell("gather", asyncio.gather(*futures))
    except asyncio.CancelledError:
        trace("counted: %d", asyncio.current_task().cancelling())
    await tell("goes on", asyncio.sleep(1))


async def scenario():
    futures = [new_future() for _ in range(4)]
    task = asyncio.create_task(body(futures))
    await turns(1)
    futures[0].set_result(1)
    futures[1].cancel()
    await turns(3)
    trace("futures: %s", " ".join(map(state, futures)))
    futures[2].set_result(3)
    futures[3].set_exception(Failure("EIO"))
    trace("task: %s", await outcome(task))
    trace("futures: %s", " ".join(map(state, futures)))
