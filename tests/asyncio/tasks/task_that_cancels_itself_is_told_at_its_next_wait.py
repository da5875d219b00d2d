"""Cancelling oneself takes effect at the next wait, which ends at once."""

from scenario import *


async def body():
    task = asyncio.current_task()
    trace("cancel: %s", result_of(task.cancel()))
    trace("still runs, counted %d", task.cancelling())
    await tell("slept", asyncio.sleep(100))
    return 12


async def scenario():
    task = asyncio.create_task(body())
    trace("awaited: %s", await outcome(task))
    trace("cancel: %s", result_of(task.cancel()))
