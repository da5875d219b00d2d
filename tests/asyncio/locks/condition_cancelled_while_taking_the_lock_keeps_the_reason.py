"""A task that is cancelled while it takes the lock back is told the reason, although what
it waited for has come true.

Since: 3.13
"""

from scenario import *

changed = asyncio.Condition()
ready = False


async def waiter():
    async with changed:
        try:
            await changed.wait_for(lambda: ready)
        except asyncio.CancelledError as error:
            trace("cancelled: %s, locked %d", error.args[0], changed.locked())
            raise


async def scenario():
    global ready
    task = asyncio.create_task(waiter())
    await turns(1)
    await changed.acquire()
    ready = True
    changed.notify()
    await turns(1)
    trace("it wants the lock")
    task.cancel("tired")
    changed.release()
    trace("waiter: %s", await outcome(task))
    trace("locked %d", changed.locked())
