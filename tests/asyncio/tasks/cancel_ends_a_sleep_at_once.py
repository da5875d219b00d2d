"""A sleeping task that a callback cancels ends in that turn's wake, not at its
deadline."""

from scenario import *


async def body():
    trace("sleeps")
    await tell("slept", asyncio.sleep(10))


async def scenario():
    task = asyncio.create_task(body())
    asyncio.get_running_loop().call_soon(task.cancel)
    trace("awaited: %s", await outcome(task))
    trace("state: %s", state(task))
    trace("cancel again: %s", result_of(task.cancel()))
