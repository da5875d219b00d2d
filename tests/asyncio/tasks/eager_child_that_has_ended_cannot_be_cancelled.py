"""Cancelling an eager child that has ended does nothing.

Since: 3.12
"""

from scenario import *


async def child():
    return 7


async def scenario():
    task = eager_task(child())
    trace("cancel: %d", task.cancel())
    trace("requests: %d", task.cancelling())
    await tell("awaited", task)
    trace("cancelled: %d", task.cancelled())
