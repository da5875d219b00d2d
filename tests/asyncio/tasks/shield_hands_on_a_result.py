"""Through a shield a result needs one turn more than by awaiting the future itself."""

from scenario import *


async def bare(future):
    await tell("bare", future)


async def shielded(future):
    await tell("shielded", asyncio.shield(future))


async def scenario():
    future = new_future()
    tasks = [asyncio.create_task(body(future)) for body in (shielded, bare)]
    await turns(1)
    ticks = asyncio.create_task(ticker(3))
    await turns(1)
    future.set_result(42)
    trace("set")
    await asyncio.wait([*tasks, ticks])
