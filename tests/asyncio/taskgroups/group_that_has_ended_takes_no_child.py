"""A group that was left takes no child; one whose owner waits still does, until the last
one has ended.
"""

from scenario import *


async def nap(name):
    await tell(name, asyncio.sleep(2))


def try_to_start(group):
    coro = nap("late")
    try:
        group.create_task(coro)
        trace("started")
    except RuntimeError:
        coro.close()
        trace("refused")


async def scenario():
    loop = asyncio.get_running_loop()
    async with telling_group() as group:
        group.create_task(nap("child"))
        loop.call_later(1, try_to_start, group)
    try_to_start(group)
    async with telling_group() as group:
        pass
    try_to_start(group)
