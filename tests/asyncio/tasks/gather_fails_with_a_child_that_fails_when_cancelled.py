"""A task that gathers is cancelled; a child that answers with a failure decides what it
gets."""

from scenario import *


async def stubborn():
    trace("stubborn: %s", await outcome(asyncio.sleep(10)))
    raise Failure("EIO")


async def body(tasks):
    await tell("gather", asyncio.gather(*tasks))


async def scenario():
    tasks = [asyncio.create_task(stubborn()), asyncio.create_task(asyncio.sleep(10))]
    task = asyncio.create_task(body(tasks))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("awaited: %s", await outcome(task))
    trace("counted: %d, children %s %s", task.cancelling(), *map(state, tasks))
