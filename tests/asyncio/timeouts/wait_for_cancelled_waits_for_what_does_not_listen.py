"""Cancelling who waits cancels what is waited for; if that does not listen, its result
comes when it has ended.

Since: 3.12
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
    waiter = asyncio.create_task(asyncio.wait_for(inner, 8))
    await asyncio.sleep(1)
    trace("cancel: %d", waiter.cancel())
    trace("waiter: %s", await outcome(waiter))
    trace("inner: %s", state(inner))
