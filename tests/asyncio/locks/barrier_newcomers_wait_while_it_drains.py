"""Two tasks that come back while the round drains wait; with the others, who meet
elsewhere first, they make the next round.
"""

from scenario import *

barrier = asyncio.Barrier(5)
elsewhere = asyncio.Barrier(3)
returning = 2


async def party(name):
    global returning
    trace("%s passes: index %d", name, await barrier.wait())
    if returning > 0:
        returning -= 1
        trace("%s returns at once", name)
    else:
        trace("%s was elsewhere: index %d", name, await elsewhere.wait())
    trace("%s passes again: index %d", name, await barrier.wait())


async def scenario():
    async with asyncio.TaskGroup() as group:
        for name in "abcde":
            group.create_task(party(name))
    trace("%d wait", barrier.n_waiting)
