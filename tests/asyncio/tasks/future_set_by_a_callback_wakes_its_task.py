"""A callback sets the future that a task awaits: one turn for the callback, one for the
task."""

from scenario import *


async def body():
    future = new_future()
    asyncio.get_running_loop().call_soon(lambda: future.set_result(11))
    return await tell("body", future)


async def scenario():
    task = asyncio.create_task(body())
    ticks = asyncio.create_task(ticker(4))
    trace("awaited: %s", await outcome(task))
    await ticks
