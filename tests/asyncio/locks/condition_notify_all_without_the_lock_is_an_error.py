"""Notifying all while nobody holds the lock is an error, even where nobody waits; any
task's holding it will do.
"""

from scenario import *

changed = asyncio.Condition()


async def holder():
    await changed.acquire()
    trace("held by another")


def notify_all():
    try:
        changed.notify_all()
    except RuntimeError:
        return "EPERM"
    return "0"


async def scenario():
    trace("notify_all: %s", notify_all())
    asyncio.create_task(holder())
    await turns(1)
    trace("notify_all: %s", notify_all())
    changed.release()
    trace("notify_all: %s", notify_all())
