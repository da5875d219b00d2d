"""A barrier knows how many have come; when it opens nobody waits any more, although not
all have left yet.
"""

from scenario import *

barrier = asyncio.Barrier(3)


async def party():
    index = await barrier.wait()
    trace("index %d leaves: %d wait", index, barrier.n_waiting)
    return index


async def scenario():
    tasks = []
    for _ in range(3):
        tasks.append(asyncio.create_task(party()))
        await turns(1)
        trace("%d of %d wait", barrier.n_waiting, barrier.parties)
    await asyncio.wait(tasks)
    trace("%s %s %s", *map(state, tasks))
