"""Several tasks that ask for the next one get theirs in the order in which they asked; who
asks for more than there are is told that it is over.

Since: 3.13
"""

from scenario import *


async def work(name, seconds, result):
    await tell(name, asyncio.sleep(seconds))
    return result


async def asker(each, name):
    try:
        trace("%s gets %s", name, state(await anext(each)))
    except StopAsyncIteration:
        trace("%s: over", name)


async def scenario():
    tasks = [asyncio.create_task(work(*args)) for args in (("a", 2, 1), ("b", 1, 2))]
    each = asyncio.as_completed(tasks)
    await asyncio.gather(*[asker(each, name) for name in ("first", "second", "third")])
