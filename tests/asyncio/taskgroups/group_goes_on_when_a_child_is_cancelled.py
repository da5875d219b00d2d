"""A child that somebody cancels is no failure of its group: more may be started, and all
is well in the end.
"""

from scenario import *


async def child(name, seconds):
    await tell(name, asyncio.sleep(seconds))


async def scenario():
    async with telling_group() as group:
        a = group.create_task(child("a", 10))
        await asyncio.sleep(1)
        trace("cancel a: %d", a.cancel())
        b = group.create_task(child("b", 2))
    trace("a %s, b %s", state(a), state(b))
