"""Of futures set in one turn, whoever awaits the one that was set first goes on first."""

from scenario import *


async def waiter(i, future):
    trace("waiter %d: %s", i, await outcome(future))


async def scenario():
    futures = [new_future() for _ in range(4)]
    tasks = [asyncio.create_task(waiter(i, future)) for i, future in enumerate(futures)]
    await turns(1)
    for i in 2, 0, 3, 1:
        if i == 3:
            futures[i].cancel()
        else:
            futures[i].set_result(i)
        trace("%d is done", i)
    await asyncio.wait(tasks)
