"""Another task may move the deadline, nearer, further, or away."""

from scenario import *

scope = None


async def body():
    global scope
    async with telling_timeout("timeout", 10) as scope:
        await tell("sleep", asyncio.sleep(50))


async def scenario():
    task = asyncio.create_task(body())
    await asyncio.sleep(1)
    for when in 20, 4, None:
        trace("deadline %d", scope.when())
        scope.reschedule(when)
    trace("deadline %s", "none" if scope.when() is None else "some")
    await asyncio.sleep(30)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
    task = asyncio.create_task(body())
    await asyncio.sleep(1)
    scope.reschedule(35)
    trace("task: %s", await outcome(task))
