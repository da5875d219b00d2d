"""Setting a result calls no callback; all are called in the next turn, in their order."""

from scenario import *


async def scenario():
    future = new_future()
    ticks = asyncio.create_task(ticker(2))
    for i in range(3):
        future.add_done_callback(lambda f, i=i: trace("callback %d: %s", i, state(f)))
    future.set_result(17)
    trace("set")
    await turns(1)
    trace("one turn later")
    await ticks
