"""Who waits is cancelled after the task has ended and before it goes on: it is cancelled,
and the task done.

Since: 3.12
"""

from scenario import *


async def inner():
    await asyncio.sleep(0)
    trace("inner ends")
    return 3


async def wait_and_go_on(task):
    await tell("wait_for", asyncio.wait_for(task, 100))
    trace("never printed")


async def scenario():
    task = asyncio.create_task(inner())
    waiter = asyncio.create_task(wait_and_go_on(task))
    waiting = asyncio.create_task(wait_and_go_on(new_future()))
    await turns(2)
    trace("task %s, waiter %s", state(task), state(waiter))
    trace("cancel: %d", waiter.cancel())
    trace("cancel: %d", waiting.cancel())
    trace("waiter: %s", await outcome(waiter))
    trace("waiting: %s", await outcome(waiting))
    trace("task: %s", state(task))
