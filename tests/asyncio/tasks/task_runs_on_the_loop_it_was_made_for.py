"""One loop after the other: each runs its own task, whose result outlives the loop."""

from scenario import *


async def body(delay):
    trace("begins")
    await asyncio.sleep(delay)
    trace("ends")
    return delay


def scenario():
    tasks = []
    for delay in 2, 3:
        loop = VirtualLoop()
        tasks.append(loop.create_task(body(delay)))
        trace("result: %d", loop.run_until_complete(tasks[-1]))
        loop.close()
    trace("kept: %s %s", *map(state, tasks))
