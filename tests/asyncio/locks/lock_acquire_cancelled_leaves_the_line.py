"""A task that is cancelled while it waits for a lock does not get it, and leaves the lock
as it was.
"""

from scenario import *

lock = asyncio.Lock()


async def taker():
    trace("wants it")
    await lock.acquire()


async def scenario():
    await lock.acquire()
    task = asyncio.create_task(taker())
    asyncio.get_running_loop().call_soon(task.cancel)
    trace("taker: %s", await outcome(task))
    trace("locked %d", lock.locked())
    lock.release()
    await turns(1)
    trace("locked %d", lock.locked())
