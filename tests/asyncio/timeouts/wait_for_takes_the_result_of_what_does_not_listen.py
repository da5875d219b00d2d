"""A task that does not listen when the deadline cancels it is waited for, and its result
taken: there is no timeout.
"""

from scenario import *


async def stubborn():
    while now() < 4:
        try:
            await asyncio.sleep(4 - now())
        except asyncio.CancelledError:
            trace("does not listen")
    trace("ends")
    return 7


async def scenario():
    inner = asyncio.create_task(stubborn())
    trace("wait_for: %s", await outcome(asyncio.wait_for(inner, 2)))
    trace("cancelling %d", asyncio.current_task().cancelling())
