"""While the tasks of a round leave one by one, a newcomer is not counted; it is when the
last has left.
"""

from scenario import *

barrier = asyncio.Barrier(4)


async def party(name):
    index = await barrier.wait()
    trace("%s leaves: %d wait", name, barrier.n_waiting)
    if name == "a":
        asyncio.create_task(newcomer())
    return index


async def newcomer():
    trace("the newcomer comes: %d wait", barrier.n_waiting)
    await barrier.wait()


async def scenario():
    for name in "abcd":
        asyncio.create_task(party(name))
    for turn in range(1, 5):
        await turns(1)
        trace("turn %d: %d wait", turn, barrier.n_waiting)
