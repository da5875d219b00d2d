"""Who awaits a future that was cancelled can read why; a second cancel changes
nothing."""

from scenario import *


async def body(future):
    try:
        await future
    except asyncio.CancelledError as error:
        trace("told: %s", error.args[0])
        raise


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    trace("cancel: %s", result_of(future.cancel("nobody asked")))
    trace("cancel: %s", result_of(future.cancel("another reason")))
    trace("awaited: %s", await outcome(task))
    trace("future: %s", state(future))
