"""A task that is cancelled before its first step has the reason all the same."""

from scenario import *


async def body():
    trace("never printed")


async def scenario():
    task = asyncio.create_task(body())
    task.cancel("not needed")
    trace("awaited: %s", await outcome(asyncio.wait([task])))
    trace("state: %s", state(task))
    try:
        task.result()
    except asyncio.CancelledError as error:
        trace("reason: %s", error.args[0])
