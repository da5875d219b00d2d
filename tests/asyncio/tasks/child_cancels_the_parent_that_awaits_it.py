"""A child cancels its parent, which hands that back: the child is cancelled as it
returns."""

from scenario import *


async def child(parent):
    trace("child cancels: %s", result_of(parent().cancel()))
    trace("child counts %d", asyncio.current_task().cancelling())
    return 1


async def scenario():
    parent_task = None

    async def parent():
        task = asyncio.create_task(child(lambda: parent_task))
        try:
            await tell("parent", task)
        finally:
            trace("parent counts %d", parent_task.cancelling())

    parent_task = asyncio.create_task(parent())
    trace("awaited: %s", await outcome(parent_task))
