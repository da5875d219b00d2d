"""A timer sets the future that a task awaits, and the task goes on at that time."""

from scenario import *


async def body(future):
    await tell("future", future)
    return 7


async def scenario():
    future = new_future()
    asyncio.get_running_loop().call_later(3, future.set_result, 1)
    task = asyncio.create_task(body(future))
    await asyncio.sleep(2)
    trace("future %s, task %s", state(future), state(task))
    trace("awaited: %s", await outcome(task))
