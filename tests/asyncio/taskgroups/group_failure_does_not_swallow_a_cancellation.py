"""The owner is cancelled by somebody else in the turn in which a child fails: the failure
comes out of the group, and the cancellation at the next wait.

Since: 3.13
"""

from scenario import *

event = asyncio.Event()


async def child():
    event.set()
    await asyncio.sleep(0)
    raise Failure("EIO")


def count(where):
    trace("%s: cancelling %d", where, asyncio.current_task().cancelling())


async def inner():
    try:
        async with telling_group() as group:
            group.create_task(child())
            await tell("body", asyncio.sleep(1))
    except ExceptionGroup:
        count("after")
    await tell("sleep", asyncio.sleep(1))


async def scenario():
    task = asyncio.create_task(inner())
    await event.wait()
    trace("cancelling %d", task.cancelling())
    trace("cancel: %d", task.cancel())
    trace("cancelling %d", task.cancelling())
    trace("task: %s", await outcome(task))
