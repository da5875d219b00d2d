"""For wait() a cancelled task is a done one: it ends a wait for the first, not for a failure."""

from scenario import *


async def waiter(name, tasks, mode):
    done, _ = await asyncio.wait(tasks, return_when=mode)
    trace("%s: %d done", name, len(done))


async def scenario():
    tasks = [asyncio.create_task(asyncio.sleep(delay)) for delay in (3, 4)]
    modes = [("first", asyncio.FIRST_COMPLETED), ("failure", asyncio.FIRST_EXCEPTION),
             ("all", asyncio.ALL_COMPLETED)]  # fmt: skip
    waiters = [asyncio.create_task(waiter(name, tasks, mode)) for name, mode in modes]
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(tasks[1].cancel()))
    await asyncio.wait(waiters)
    trace("tasks: %s %s", *map(state, tasks))
