"""A predicate that holds already is no wait at all, so nothing is said of the lock; one
that does not hold needs it.
"""

from scenario import *

changed = asyncio.Condition()


async def wait_for(value):
    try:
        return await changed.wait_for(lambda: value)
    except RuntimeError:
        raise Failure("EPERM")


async def scenario():
    asyncio.create_task(ticker(1))
    trace("holds: %s", await outcome(wait_for(7)))
    trace("does not: %s", await outcome(wait_for(0)))
    trace("locked %d", changed.locked())
