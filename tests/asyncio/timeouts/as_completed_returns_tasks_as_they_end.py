"""Tasks come in the order in which they end, each as it does; one that has failed, too.

Since: 3.13
"""

from scenario import *


async def work(name, seconds, result):
    await tell(name, asyncio.sleep(seconds))
    return result


async def scenario():
    tasks = [
        asyncio.create_task(work(*args))
        for args in (("a", 3, 1), ("b", 1, 2), ("c", 1, 3), ("d", 0, 4))
    ]
    async for task in asyncio.as_completed(tasks):
        trace("%s: %s", "abcd"[tasks.index(task)], state(task))
    trace("over")
