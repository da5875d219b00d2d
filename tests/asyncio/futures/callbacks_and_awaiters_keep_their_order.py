"""Those who await a future and its callbacks are one line: first come, first served."""

from scenario import *


async def waiter(name, future):
    trace("%s: %s", name, await outcome(future))


async def scenario():
    future = new_future()
    tasks = [asyncio.create_task(waiter("first task", future))]
    await turns(1)
    future.add_done_callback(lambda f: trace("first callback"))
    tasks.append(asyncio.create_task(waiter("second task", future)))
    await turns(1)
    future.add_done_callback(lambda f: trace("second callback"))
    await asyncio.sleep(1)
    future.set_result(3)
    await asyncio.wait(tasks)
