"""Two sleeps take the time of both, and the loop's clock moves by no more."""

from scenario import *


async def body():
    for _ in range(2):
        await tell("slept", asyncio.sleep(2))
    return 7


async def scenario():
    task = asyncio.create_task(body())
    await asyncio.sleep(3)
    trace("state: %s", state(task))
    trace("awaited: %s", await outcome(task))
