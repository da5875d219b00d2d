"""Tasks that pass a barrier twice go through the second time only when all of them have
come again.
"""

from scenario import *

barrier = asyncio.Barrier(3)


async def party(name):
    async with barrier:
        trace("%s: first", name)
        async with barrier:
            trace("%s: second", name)


async def scenario():
    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(party(name))
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
