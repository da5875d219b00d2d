"""Releasing a lock that nobody holds is an error, and changes nothing."""

from scenario import *

lock = asyncio.Lock()


def release():
    try:
        lock.release()
    except RuntimeError:
        return "EPERM"
    return "0"


async def scenario():
    trace("before: %s, locked %d", release(), lock.locked())
    await lock.acquire()
    trace("held: %s, locked %d", release(), lock.locked())
    trace("after: %s, locked %d", release(), lock.locked())
    await lock.acquire()
    trace("again: locked %d", lock.locked())
