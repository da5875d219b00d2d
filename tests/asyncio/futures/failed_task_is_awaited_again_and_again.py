"""A task that has failed fails everybody who awaits it, then and later, each time the
same."""

from scenario import *


async def body():
    await asyncio.sleep(1)
    raise Failure("EIO")


async def waiter(i, task):
    trace("waiter %d: %s", i, await outcome(task))


async def scenario():
    task = asyncio.create_task(body())
    waiters = [asyncio.create_task(waiter(i, task)) for i in range(2)]
    for _ in range(3):
        trace("awaited: %s", await outcome(task))
    await asyncio.wait(waiters)
