"""Who waits behind a shield is cancelled; the future stays pending, and can still be
set."""

from scenario import *


async def body(future):
    await tell("told", asyncio.shield(future))


async def scenario():
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    await turns(1)
    trace("task %s, future %s", state(task), state(future))
    future.set_result(5)
    await turns(2)
    trace("task %s, future %s", state(task), state(future))
