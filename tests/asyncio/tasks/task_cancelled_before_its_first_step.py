"""A task that is cancelled before it ever ran does not run."""

from scenario import *


async def body():
    trace("never printed")


async def scenario():
    task = asyncio.create_task(body())
    trace("cancel: %s", result_of(task.cancel()))
    trace("before: %s", state(task))
    trace("awaited: %s", await outcome(task))
