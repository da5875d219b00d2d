"""Of two failures one turn apart the gathering task sees the first; the second is its
task's."""

from scenario import *


async def inner(future, error):
    await future
    raise Failure(error)


async def outer(tasks):
    await tell("outer", asyncio.gather(*tasks))


async def scenario():
    futures = [new_future(), new_future()]
    tasks = [asyncio.create_task(inner(*each)) for each in zip(futures, ("EIO", "ENOENT"))]
    task = asyncio.create_task(outer(tasks))
    await turns(1)
    for future in futures:
        future.set_result(0)
        await turns(1)
        trace("inner %s %s, outer %s", *map(state, tasks), state(task))
    await turns(2)
    trace("inner %s %s, outer %s", *map(state, tasks), state(task))
