"""A waiter that is cancelled after the release was given to it gives it back: the
semaphore can be acquired again.
"""

from scenario import *

slots = asyncio.Semaphore(1)


async def first():
    async with slots:
        trace("first is in")
        await turns(1)
    trace("first is out")
    second_task.cancel()


async def second():
    async with slots:
        trace("never printed")


async def take_within_a_second():
    async with asyncio.timeout(1):
        await slots.acquire()


async def scenario():
    global second_task
    first_task = asyncio.create_task(first())
    second_task = asyncio.create_task(second())
    trace("first: %s", await outcome(first_task))
    trace("locked %d", slots.locked())
    trace("second: %s", await outcome(second_task))
    trace("locked %d", slots.locked())
    trace("we: %s", await outcome(take_within_a_second()))
