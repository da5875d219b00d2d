"""gather of all, in a loop, collects no cancellation of its own waiter: that one ends."""

from scenario import *


async def body():
    while True:
        sleeper = asyncio.create_task(asyncio.sleep(2))
        await tell("gather", asyncio.gather(sleeper, return_exceptions=True))


async def scenario():
    task = asyncio.create_task(body())
    await asyncio.sleep(5)
    task.cancel("enough")
    try:
        await task
    except asyncio.CancelledError as error:
        trace("cancelled: %s", error.args[0])
