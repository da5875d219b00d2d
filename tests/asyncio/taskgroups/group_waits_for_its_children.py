"""A group ends when its last child has, and their results are there."""

from scenario import *


async def child(name, seconds, result):
    await tell(name, asyncio.sleep(seconds))
    return result


async def scenario():
    async with telling_group() as group:
        a = group.create_task(child("a", 1, 42))
        b = group.create_task(child("b", 2, 11))
        trace("body: %s %s", state(a), state(b))
    trace("after: %s %s", state(a), state(b))
