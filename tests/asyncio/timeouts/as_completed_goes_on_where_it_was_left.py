"""A loop that is left may be taken up again: what has come meanwhile comes without a turn.

Since: 3.13
"""

from scenario import *


async def work(name, seconds, result):
    await tell(name, asyncio.sleep(seconds))
    return result


async def scenario():
    tasks = [asyncio.create_task(work(*args)) for args in (("a", 3, 1), ("b", 1, 2), ("c", 2, 3))]
    each = asyncio.as_completed(tasks)
    async for task in each:
        trace("first: %s", state(task))
        break
    await tell("sleep", asyncio.sleep(5))
    asyncio.create_task(ticker(2))
    async for task in each:
        trace("next: %s", state(task))
    trace("over")
