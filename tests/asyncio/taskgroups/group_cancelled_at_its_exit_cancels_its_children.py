"""Whoever is cancelled while it waits for its children cancels them, in the order in which
they were started, and is cancelled when they have ended.
"""

from scenario import *


async def child(name, seconds):
    await tell(name, asyncio.sleep(seconds))


async def owner():
    async with telling_group() as group:
        for name in "abcde":
            group.create_task(child(name, 5))


async def scenario():
    task = asyncio.create_task(owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
