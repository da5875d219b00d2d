"""An eager child that cancels its spawner: that is told at its next wait.

Since: 3.12
"""

from scenario import *


async def child(spawner):
    trace("cancel: %d", spawner.cancel())


async def scenario():
    me = asyncio.current_task()
    asyncio.create_task(ticker(2))
    eager_task(child(me))
    trace("requests: %d", me.cancelling())
    trace("waits: %s", await outcome(asyncio.sleep(5)))
    trace("left: %d", me.uncancel())
    trace("waits: %s", await outcome(asyncio.sleep(5)))
