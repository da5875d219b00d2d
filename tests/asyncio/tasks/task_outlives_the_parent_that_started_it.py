"""A parent that returns leaves its child running; somebody else may await it."""

from scenario import *

child_task = None


async def child():
    await asyncio.sleep(2)
    trace("child ends")
    return 6


async def parent():
    global child_task
    child_task = asyncio.create_task(child())
    await asyncio.sleep(1)
    trace("parent ends")


async def scenario():
    task = asyncio.create_task(parent())
    trace("parent: %s", await outcome(task))
    trace("cancel the parent: %s", result_of(task.cancel()))
    trace("child: %s, counted %d", state(child_task), child_task.cancelling())
    trace("child: %s", await outcome(child_task))
