"""Cleaning up may wait, once the cancellation is caught; a second request cuts that
short."""

from scenario import *


async def body():
    try:
        await tell("work", asyncio.sleep(10))
    except asyncio.CancelledError:
        trace("cleanup: %s", result := await outcome(asyncio.sleep(3)))
        trace("counted: %d", asyncio.current_task().cancelling())
        raise asyncio.CancelledError if result == "ECANCELED" else Failure("EIO")


async def scenario():
    for cancels in 1, 2:
        task = asyncio.create_task(body())
        await asyncio.sleep(1)
        for _ in range(cancels):
            trace("cancel: %s", result_of(task.cancel()))
            await asyncio.sleep(1)
        trace("awaited: %s", await outcome(task))
