"""The tasks that pass a barrier get the order of their coming as an index; the last goes
on first, since it does not wait.
"""

from scenario import *

barrier = asyncio.Barrier(3)


async def party(name):
    trace("%s comes: %d wait", name, barrier.n_waiting)
    async with barrier as index:
        trace("%s passes with index %d", name, index)


async def scenario():
    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(party(name))
    trace("%d wait, broken %d", barrier.n_waiting, barrier.broken)
