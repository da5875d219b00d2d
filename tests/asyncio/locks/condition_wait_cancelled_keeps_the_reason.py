"""A task that is cancelled while it waits to be notified is told the reason that was
given.
"""

from scenario import *

changed = asyncio.Condition()


async def waiter():
    async with changed:
        try:
            await changed.wait_for(lambda: False)
        except asyncio.CancelledError as error:
            trace("cancelled: %s, locked %d", error.args[0], changed.locked())
            raise


async def scenario():
    task = asyncio.create_task(waiter())
    await turns(1)
    task.cancel("tired")
    trace("waiter: %s", await outcome(task))
    trace("locked %d", changed.locked())
