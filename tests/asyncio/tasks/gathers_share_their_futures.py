"""Two tasks gather the same futures, one in the other order: both get all the results."""

from scenario import *


async def body(name, futures):
    results = await asyncio.gather(*futures)
    trace("%s: %s", name, " ".join(map(str, results)))


async def scenario():
    futures = [new_future() for _ in range(3)]
    tasks = [asyncio.create_task(body("there", futures)),
             asyncio.create_task(body("back", futures[::-1]))]  # fmt: skip
    await turns(1)
    for i in 1, 2, 0:
        futures[i].set_result(10 + i)
        await asyncio.sleep(1)
        trace("%d is set: %s %s", i, *map(state, tasks))
