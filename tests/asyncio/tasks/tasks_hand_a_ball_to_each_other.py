"""Two tasks that wake each other by futures take a turn for each throw, with others between."""

from scenario import *


async def player(name, balls, i):
    while i < 6:
        await balls[i]
        trace("%s catches ball %d", name, i)
        balls[i + 1].set_result(0)
        i += 2


async def scenario():
    balls = [new_future() for _ in range(7)]
    tasks = [asyncio.create_task(player("left", balls, 0)),
             asyncio.create_task(player("right", balls, 1)),
             asyncio.create_task(ticker(7))]  # fmt: skip
    await turns(1)
    balls[0].set_result(0)
    trace("service")
    await asyncio.wait(tasks)
    trace("the last ball: %s", state(balls[6]))
