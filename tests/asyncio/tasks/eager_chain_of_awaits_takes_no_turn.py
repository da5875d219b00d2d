"""Children that spawn eagerly and await what they spawned: as long as nobody waits, no turn passes.

Since: 3.12
"""

from scenario import *


async def count(depth):
    return 1 + await eager_task(count(depth - 1)) if depth > 0 else 0


async def scenario():
    asyncio.create_task(ticker(2))
    await tell("a hundred deep", eager_task(count(100)))
    await turns(2)
