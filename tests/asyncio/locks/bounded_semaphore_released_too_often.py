"""A bounded semaphore does not become more than it was: a release too many is an error,
and changes nothing.
"""

from scenario import *

slots = asyncio.BoundedSemaphore(2)


def release():
    try:
        slots.release()
    except ValueError:
        return "EOVERFLOW"
    return "0"


async def scenario():
    trace("all are free: %s", release())
    await slots.acquire()
    trace("one is taken: locked %d", slots.locked())
    await slots.acquire()
    trace("two are taken: locked %d", slots.locked())
    for _ in range(3):
        trace("%s: locked %d", release(), slots.locked())
    await slots.acquire()
    await slots.acquire()
    trace("two are taken: locked %d", slots.locked())
