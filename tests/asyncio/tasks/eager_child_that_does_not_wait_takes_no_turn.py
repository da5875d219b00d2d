"""An eager child that does not wait has ended when it is spawned; awaiting it takes no turn.

Since: 3.12
"""

from scenario import *


async def child():
    trace("child")
    return 5


async def scenario():
    asyncio.create_task(ticker(3))
    task = eager_task(child())
    trace("spawned: %s", state(task))
    await tell("awaited", task)
    trace("yields")
    await turns(2)
