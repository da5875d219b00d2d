"""A task hands its cancellation to the one it awaits; if that ignores it, nobody is
cancelled."""

from scenario import *


async def deaf():
    trace("deaf: %s", await outcome(asyncio.sleep(10)))
    await asyncio.sleep(2)
    return 5


async def body(task):
    await tell("awaited", task)
    trace("counted: %d", asyncio.current_task().cancelling())
    await tell("waits on", asyncio.sleep(1))


async def scenario():
    inner = asyncio.create_task(deaf())
    task = asyncio.create_task(body(inner))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("task: %s", await outcome(task))
    trace("counted: %d %d", task.cancelling(), inner.cancelling())
