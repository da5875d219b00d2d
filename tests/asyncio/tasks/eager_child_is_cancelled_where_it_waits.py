"""An eager child that waits is cancelled there, with the reason.

Since: 3.12
"""

from scenario import *


async def child():
    trace("child waits")
    try:
        await asyncio.sleep(9)
    except asyncio.CancelledError as error:
        trace("child is told: %s", error.args[0])
        raise


async def scenario():
    task = eager_task(child())
    trace("cancel: %d", task.cancel("changed my mind"))
    trace("requests: %d, %s", task.cancelling(), state(task))
    trace("awaited: %s", await outcome(task))
