"""A timer that is to set a future finds it cancelled, and leaves it so."""

from scenario import *


async def scenario():
    future = new_future()
    asyncio.get_running_loop().call_later(
        2, lambda: trace("timer sets: %s", attempt(future.set_result, 2)))  # fmt: skip
    task = asyncio.create_task(tell("task", future))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    await asyncio.sleep(2)
    trace("future %s, task %s", state(future), state(task))
