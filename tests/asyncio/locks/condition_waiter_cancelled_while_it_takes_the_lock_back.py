"""A notified waiter that is cancelled while it waits for the lock goes on, cancelled,
only when the lock is released.
"""

from scenario import *

changed = asyncio.Condition()


async def waiter():
    async with changed:
        trace("waits")
        try:
            await changed.wait()
        except asyncio.CancelledError:
            trace("cancelled: locked %d", changed.locked())
            raise


async def scenario():
    task = asyncio.create_task(waiter())
    await turns(1)
    await changed.acquire()
    changed.notify()
    await turns(1)
    task.cancel()
    await turns(1)
    trace("cancelled, the lock is held: %s", state(task))
    changed.release()
    await turns(1)
    trace("released: %s, locked %d", state(task), changed.locked())
