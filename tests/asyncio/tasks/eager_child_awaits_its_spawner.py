"""An eager child may await its spawner, which has not even got hold of it.

Since: 3.12
"""

from scenario import *


async def child(spawner):
    trace("child waits")
    trace("child: %s", await outcome(spawner))


async def spawner():
    eager_task(child(asyncio.current_task()))
    trace("spawner goes on")
    await asyncio.sleep(1)
    return 8


async def scenario():
    await tell("spawner", asyncio.create_task(spawner()))
    await turns(1)
