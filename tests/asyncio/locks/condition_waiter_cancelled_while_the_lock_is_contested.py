"""A waiter that is notified, then cancelled while it stands in line for the lock, still
has the lock when it goes on.
"""

from scenario import *

changed = asyncio.Condition()


async def waiter():
    try:
        await changed.wait()
        trace("goes on: locked %d", changed.locked())
    except asyncio.CancelledError:
        trace("cancelled: locked %d", changed.locked())
        raise


async def scenario():
    await changed.acquire()
    task = asyncio.create_task(waiter())
    await turns(1)
    trace("it waits: locked %d", changed.locked())
    await changed.acquire()
    changed.notify()
    asyncio.get_running_loop().call_soon(task.cancel)
    asyncio.get_running_loop().call_soon(changed.release)
    trace("waiter: %s", await outcome(task))
    trace("locked %d", changed.locked())
