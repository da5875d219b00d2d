"""A block under a condition's lock: it is held inside, given up during the wait, and free
after it.
"""

from scenario import *

changed = asyncio.Condition()


async def block():
    async with changed:
        trace("inside: locked %d", changed.locked())
        await changed.wait()
        trace("woken: locked %d", changed.locked())
    trace("after: locked %d", changed.locked())


async def scenario():
    trace("locked %d", changed.locked())
    task = asyncio.create_task(block())
    await asyncio.sleep(1)
    trace("it waits: locked %d", changed.locked())
    async with changed:
        trace("ours: locked %d", changed.locked())
        changed.notify()
    trace("released: locked %d", changed.locked())
    trace("block: %s", await outcome(task))
