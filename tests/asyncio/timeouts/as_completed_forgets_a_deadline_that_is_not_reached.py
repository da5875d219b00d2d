"""When the last one has come there is no deadline any more.

Since: 3.13
"""

from scenario import *


async def work(name, seconds, result):
    await tell(name, asyncio.sleep(seconds))
    return result


async def scenario():
    tasks = [asyncio.create_task(work("a", 1, 1))]
    async for task in asyncio.as_completed(tasks, timeout=5):
        trace("a: %s", state(task))
    trace("over")
    await tell("sleep", asyncio.sleep(10))
