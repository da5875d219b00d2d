"""Cancelled, gather returns with the first child that ends; gather of all, with the
last."""

from scenario import *


async def slow(i):
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        trace("child %d cleans up", i)
        await asyncio.sleep(i)
        trace("child %d ends", i)
        raise


async def body(tasks, everything):
    await tell("gather", asyncio.gather(*tasks, return_exceptions=everything))


async def scenario():
    for everything in False, True:
        tasks = [asyncio.create_task(slow(i)) for i in (2, 1)]
        task = asyncio.create_task(body(tasks, everything))
        await turns(1)
        task.cancel()
        trace("awaited: %s", await outcome(task))
        await asyncio.sleep(3)
