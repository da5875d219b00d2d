"""All children ignore the cancellation and have results: the gather was cancelled all the
same."""

from scenario import *


async def deaf(i):
    trace("deaf %d: %s", i, await outcome(asyncio.sleep(10)))
    await asyncio.sleep(i)
    return i


async def body(tasks, everything):
    try:
        await tell("gather", asyncio.gather(*tasks, return_exceptions=everything))
    finally:
        trace("children: %s %s", *map(state, tasks))


async def scenario():
    for everything in False, True:
        tasks = [asyncio.create_task(deaf(i)) for i in (1, 2)]
        task = asyncio.create_task(body(tasks, everything))
        await asyncio.sleep(1)
        trace("cancel: %s", result_of(task.cancel()))
        trace("awaited: %s", await outcome(task))
