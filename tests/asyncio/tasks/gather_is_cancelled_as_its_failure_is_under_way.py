"""A child has failed, gather knows and its task has not run yet: cancelled, it sees no
failure."""

from scenario import *


async def failing(future):
    await future
    raise Failure("EIO")


async def body(tasks):
    await tell("gather", asyncio.gather(*tasks))


async def scenario():
    for delay in 1, 2, 3:
        future, other = new_future(), new_future()
        child = asyncio.create_task(failing(future))
        task = asyncio.create_task(body([child, other]))
        await turns(1)
        future.set_result(0)
        await turns(delay)
        trace("after %d: child %s, task %s", delay, state(child), state(task))
        trace("cancel: %s", result_of(task.cancel()))
        trace("awaited: %s, other %s", await outcome(task), state(other))
