"""A task that is cancelled while it waits for a semaphore takes nothing: the next release
is for whoever comes.
"""

from scenario import *

slots = asyncio.Semaphore(1)


async def taker():
    trace("wants in")
    await slots.acquire()


async def scenario():
    await slots.acquire()
    task = asyncio.create_task(taker())
    asyncio.get_running_loop().call_soon(task.cancel)
    trace("taker: %s", await outcome(task))
    trace("locked %d", slots.locked())
    slots.release()
    trace("locked %d", slots.locked())
    await slots.acquire()
    trace("locked %d", slots.locked())
