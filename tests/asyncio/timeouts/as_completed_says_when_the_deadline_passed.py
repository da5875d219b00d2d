"""Those that end in time come; then there is one timeout for each that does not, and they
go on.

Since: 3.13
"""

from scenario import *


async def work(name, seconds, result):
    await tell(name, asyncio.sleep(seconds))
    return result


async def scenario():
    tasks = [asyncio.create_task(work(*args)) for args in (("a", 1, 1), ("b", 5, 2), ("c", 6, 3))]
    each = asyncio.as_completed(tasks, timeout=3)
    while True:
        try:
            task = await anext(each)
            trace("%s: %s", "abc"[tasks.index(task)], state(task))
        except TimeoutError:
            trace("timeout")
        except StopAsyncIteration:
            break
    trace("over")
    trace("b: %s", await outcome(tasks[1]))
    trace("c: %s", await outcome(tasks[2]))
