"""A task whose gather has failed is cancelled in its next wait; the siblings are left
alone."""

from scenario import *


async def failing():
    await asyncio.sleep(1)
    raise Failure("EIO")


async def body(tasks):
    trace("gather: %s", await outcome(asyncio.gather(*tasks)))
    await tell("sleep", asyncio.sleep(5))


async def scenario():
    tasks = [asyncio.create_task(failing()), asyncio.create_task(asyncio.sleep(4))]
    task = asyncio.create_task(body(tasks))
    await asyncio.sleep(2)
    trace("cancel: %s", result_of(task.cancel()))
    trace("awaited: %s", await outcome(task))
    trace("sibling: %s, counted %d", state(tasks[1]), tasks[1].cancelling())
    trace("sibling: %s", await outcome(tasks[1]))
