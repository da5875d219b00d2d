"""Tasks that give a semaphore back and want it again at once take turns: nobody comes
twice before the others came once.
"""

from scenario import *

slots = asyncio.Semaphore(1)


async def user(name):
    for visit in 1, 2:
        await slots.acquire()
        trace("%s's visit %d", name, visit)
        await asyncio.sleep(1)
        slots.release()


async def scenario():
    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(user(name))
    trace("end")
