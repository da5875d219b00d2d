"""Gathers of children that have ended as they were spawned, however deep, take no turn.

Since: 3.12
"""

from scenario import *


begun = 0


async def branch(depth):
    global begun
    begun += 1
    if depth > 0:
        await asyncio.gather(*[eager_task(branch(depth - 1)) for _ in range(3)])


async def scenario():
    asyncio.create_task(ticker(2))
    await tell("outermost", branch(3))
    trace("children: %d", begun)
    await turns(2)
