"""A block under a lock: held inside, free after it, also when the block fails or is
cancelled.
"""

from scenario import *

lock = asyncio.Lock()


async def block(name, failure):
    async with lock:
        trace("%s: locked %d", name, lock.locked())
        await asyncio.sleep(2)
        if failure:
            raise Failure(failure)


async def scenario():
    trace("locked %d", lock.locked())
    a = asyncio.create_task(block("a", None))
    b = asyncio.create_task(block("b", "EIO"))
    c = asyncio.create_task(block("c", None))
    trace("a: %s, locked %d", await outcome(a), lock.locked())
    trace("b: %s, locked %d", await outcome(b), lock.locked())
    await asyncio.sleep(1)
    c.cancel()
    trace("c: %s, locked %d", await outcome(c), lock.locked())
