"""A wait that is cancelled, and cancelled again while it takes the lock back, still ends
with the lock, and is cancelled once.
"""

from scenario import *

changed = asyncio.Condition()


async def waiter():
    async with changed:
        try:
            await changed.wait()
        except asyncio.CancelledError:
            trace("cancelled: locked %d", changed.locked())
        await asyncio.sleep(1)
        trace("slept")
    return asyncio.current_task().cancelling()


async def scenario():
    task = asyncio.create_task(waiter())
    await turns(1)
    await changed.acquire()
    for _ in range(3):
        task.cancel()
        await turns(1)
        trace("the lock is held: %s", state(task))
    changed.release()
    trace("requests: %s", await outcome(task))
