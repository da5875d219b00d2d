"""An eager child that cancels itself before it has waited hands back all the same, and is told at its first wait.

Since: 3.12
"""

from scenario import *


async def child():
    asyncio.current_task().cancel()
    trace("child waits")
    trace("child: %s", await outcome(asyncio.sleep(5)))
    raise asyncio.CancelledError


async def scenario():
    asyncio.create_task(ticker(2))
    task = eager_task(child())
    trace("spawned: %s", state(task))
    trace("awaited: %s", await outcome(task))
