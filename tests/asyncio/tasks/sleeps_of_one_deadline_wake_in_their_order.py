"""Sleepers wake by their deadlines, and those of the same deadline first come, first
served."""

from scenario import *


async def body(name, delay):
    await asyncio.sleep(delay)
    trace("%s after %d", name, delay)


async def scenario():
    delays = [("a", 2), ("b", 1), ("c", 2), ("d", 0), ("e", 1), ("f", -1)]
    tasks = [asyncio.create_task(body(*each)) for each in delays]
    await asyncio.wait(tasks)
