"""A sleep that is cancelled wakes nobody at the deadline it had."""

from scenario import *


async def body():
    for delay in 5, 7:
        trace("sleep of %d: %s", delay, await outcome(asyncio.sleep(delay)))


async def scenario():
    task = asyncio.create_task(body())
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    await turns(2)
    trace("state: %s", state(task))
    trace("awaited: %s", await outcome(task))
