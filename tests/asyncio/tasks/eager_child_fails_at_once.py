"""The failure of an eager child is for whoever awaits it, not for whoever spawns it.

Since: 3.12
"""

from scenario import *


async def child():
    trace("child fails")
    raise Failure("EIO")


async def scenario():
    task = eager_task(child())
    trace("spawned: %s", state(task))
    trace("gathered: %s", await outcome(asyncio.gather(task, asyncio.sleep(1))))
    trace("awaited: %s", await outcome(task))
