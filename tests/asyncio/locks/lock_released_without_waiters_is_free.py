"""A lock for which nobody waits is free at once when it is released, and is taken without
waiting.
"""

from scenario import *

lock = asyncio.Lock()


async def scenario():
    asyncio.create_task(ticker(3))
    await lock.acquire()
    trace("locked %d", lock.locked())
    lock.release()
    trace("locked %d", lock.locked())
    await lock.acquire()
    trace("locked %d", lock.locked())
    await turns(1)
    lock.release()
    trace("locked %d", lock.locked())
    await turns(1)
