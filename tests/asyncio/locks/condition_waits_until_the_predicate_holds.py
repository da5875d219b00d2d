"""Waiting for a predicate asks it at once and after each notification, and goes on with
its value when it holds.
"""

from scenario import *

changed = asyncio.Condition()
level = 0


def two_or_more():
    trace("asked at level %d: locked %d", level, changed.locked())
    return level if level >= 2 else 0


async def waiter():
    await changed.acquire()
    trace("the predicate: %d", await changed.wait_for(two_or_more))
    changed.release()


async def set_level(value):
    global level
    level = value
    await changed.acquire()
    changed.notify()
    changed.release()
    await turns(1)


async def scenario():
    task = asyncio.create_task(waiter())
    await turns(1)
    await set_level(1)
    trace("waiter: %s", state(task))
    await set_level(3)
    trace("waiter: %s", state(task))
