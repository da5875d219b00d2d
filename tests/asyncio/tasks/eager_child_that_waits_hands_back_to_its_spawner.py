"""An eager child runs until it waits; then its spawner goes on.

Since: 3.12
"""

from scenario import *


async def child():
    trace("child begins")
    await asyncio.sleep(2)
    trace("child goes on")
    return 6


async def scenario():
    task = eager_task(child())
    trace("spawned: %s", state(task))
    await asyncio.sleep(1)
    trace("a second later: %s", state(task))
    await tell("awaited", task)
