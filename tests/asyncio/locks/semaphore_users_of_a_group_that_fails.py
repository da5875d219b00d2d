"""A group whose child fails inside a semaphore of one cancels the children that wait for
it; the semaphore is free afterwards.
"""

from scenario import *

slots = asyncio.Semaphore(1)


async def user(name, failure):
    try:
        async with slots:
            trace("%s is in", name)
            await asyncio.sleep(1)
            if failure:
                raise Failure(failure)
    except asyncio.CancelledError:
        trace("%s was cancelled", name)
        raise


async def use():
    async with asyncio.TaskGroup() as group:
        group.create_task(user("a", None))
        group.create_task(user("b", "EIO"))
        group.create_task(user("c", None))


async def scenario():
    try:
        await use()
    except* Failure as failed:
        trace("the group: %s", name_of(failed.exceptions[0]))
    trace("locked %d", slots.locked())
