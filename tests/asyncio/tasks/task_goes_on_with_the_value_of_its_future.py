"""A future wakes the task that awaits it in the next turn, with the value it was
given."""

from scenario import *


async def body(future):
    value = await future
    trace("got %s", value)


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    future.set_result("a value")
    trace("set: task %s", state(task))
    await turns(1)
    trace("one turn later: task %s", state(task))
