"""Notifying while nobody holds the lock is an error, and wakes nobody."""

from scenario import *

changed = asyncio.Condition()


async def waiter():
    async with changed:
        await changed.wait()
        trace("goes on")


def notify():
    try:
        changed.notify()
    except RuntimeError:
        return "EPERM"
    return "0"


async def scenario():
    trace("notify: %s", notify())
    task = asyncio.create_task(waiter())
    await turns(1)
    trace("notify: %s", notify())
    await turns(2)
    trace("waiter: %s", state(task))
    async with changed:
        trace("notify: %s", notify())
    trace("waiter: %s", await outcome(task))
