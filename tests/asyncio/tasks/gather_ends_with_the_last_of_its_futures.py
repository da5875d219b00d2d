"""gather returns two turns after the last result, in the order of the arguments."""

from scenario import *


async def body(futures, everything):
    results = await asyncio.gather(*futures, return_exceptions=everything)
    trace("gathered %s", " ".join(map(str, results)))


async def scenario():
    for everything in False, True:
        a, b, c = new_future(), new_future(), new_future()
        task = asyncio.create_task(body((a, b, c), everything))
        await turns(1)
        b.set_result(1)
        a.set_result(2)
        await turns(3)
        trace("two are set: %s", state(task))
        ticks = asyncio.create_task(ticker(3))
        c.set_result(3)
        trace("all are set: %s", state(task))
        await asyncio.wait([task, ticks])
