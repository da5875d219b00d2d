"""A task that is started and forgotten works on, as long as something will wake it."""

from scenario import *


async def forgotten(future):
    for i in range(3):
        await asyncio.sleep(1)
        trace("step %d", i)
    future.set_result(3)


async def scenario():
    future = new_future()
    asyncio.create_task(forgotten(future))
    trace("started")
    trace("future: %s", await outcome(future))
