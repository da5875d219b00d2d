"""Who awaits tasks that end because a future was cancelled learns why that was; by
gather, too."""

from scenario import *


async def awaiting(future):
    await tell("awaiting", future)


async def gathering(future):
    await tell("gathering", asyncio.gather(future))


async def scenario():
    for body in awaiting, gathering:
        future = new_future()
        task = asyncio.create_task(awaiting(asyncio.create_task(body(future))))
        await turns(2)
        future.cancel("out of order")
        try:
            await task
        except asyncio.CancelledError as error:
            trace("because: %s", error.args[0])
        trace("counted: %d", task.cancelling())
