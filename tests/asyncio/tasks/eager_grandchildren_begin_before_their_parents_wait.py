"""An eager child may spawn eagerly: whoever waits hands back to the one that spawned it, one by one.

Since: 3.12
"""

from scenario import *


async def level(depth):
    trace("%d begins", depth)
    task = eager_task(level(depth - 1)) if depth > 1 else None
    trace("%d waits", depth)
    await asyncio.sleep(depth)
    trace("%d goes on", depth)
    if task:
        await task


async def scenario():
    task = eager_task(level(3))
    trace("main waits")
    await task
