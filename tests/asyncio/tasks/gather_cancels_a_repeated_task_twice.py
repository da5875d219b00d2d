"""A task that stands twice in a gather is asked twice; it catches both requests at once."""

from scenario import *


async def child():
    trace("child: %s", await outcome(asyncio.sleep(10)))
    trace("counted %d", asyncio.current_task().cancelling())
    await tell("child again", asyncio.sleep(1))
    return 3


async def body(task):
    await tell("gather", asyncio.gather(task, task))


async def scenario():
    child_task = asyncio.create_task(child())
    task = asyncio.create_task(body(child_task))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("awaited: %s", await outcome(task))
    trace("child: %s", state(child_task))
