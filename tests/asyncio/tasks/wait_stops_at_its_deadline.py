"""wait() with a deadline returns then, fails not, and cancels nothing."""

from scenario import *


async def scenario():
    tasks = [asyncio.create_task(asyncio.sleep(delay)) for delay in (1, 4, 4)]
    done, pending = await asyncio.wait(tasks, timeout=2)
    trace("done %d, pending %d", len(done), len(pending))
    trace("cancelled: %d", sum(task.cancelled() for task in tasks))
    done, pending = await asyncio.wait(tasks, timeout=5)
    trace("done %d, pending %d", len(done), len(pending))
