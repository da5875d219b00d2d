"""A timer cancels a task that sleeps for long; who awaits it goes on at that time."""

from scenario import *


async def scenario():
    task = asyncio.create_task(asyncio.sleep(5000))
    asyncio.get_running_loop().call_later(1, task.cancel)
    result = await outcome(task)
    trace("awaited: %s, counted %d", result, asyncio.current_task().cancelling())
    await asyncio.sleep(1)
    trace("goes on")
