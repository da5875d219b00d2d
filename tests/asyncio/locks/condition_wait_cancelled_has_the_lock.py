"""A wait that is cancelled returns with the lock held all the same."""

from scenario import *

changed = asyncio.Condition()


async def waiter():
    trace("waits: locked %d", changed.locked())
    try:
        await changed.wait()
    except asyncio.CancelledError:
        trace("cancelled: locked %d", changed.locked())
        raise


async def scenario():
    await changed.acquire()
    task = asyncio.create_task(waiter())
    asyncio.get_running_loop().call_soon(task.cancel)
    trace("waiter: %s", await outcome(task))
    trace("locked %d", changed.locked())
    changed.release()
    trace("locked %d", changed.locked())
