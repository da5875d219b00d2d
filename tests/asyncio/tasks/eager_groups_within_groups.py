"""Groups whose children open groups and do not wait themselves: each child has ended as it is spawned.

Since: 3.12
"""

from scenario import *


DEPTH = 4
begun = 0


async def branch(depth):
    global begun
    begun += 1
    if depth == 0:
        return
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(branch(depth - 1))


async def scenario():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    trace("begins")
    await tell("outermost", branch(DEPTH))
    trace("children: %d", begun)
