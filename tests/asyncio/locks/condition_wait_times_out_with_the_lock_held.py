"""A deadline that passes while a task waits for a condition ends the wait, with the lock
held.
"""

from scenario import *

changed = asyncio.Condition()


async def wait_two_seconds():
    async with asyncio.timeout(2):
        await changed.wait()


async def scenario():
    async with changed:
        trace("waits: locked %d", changed.locked())
        trace("wait: %s", await outcome(wait_two_seconds()))
        trace("locked %d", changed.locked())
        trace("wait: %s", await outcome(wait_two_seconds()))
    trace("locked %d", changed.locked())
