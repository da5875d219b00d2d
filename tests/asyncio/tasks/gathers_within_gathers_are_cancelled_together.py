"""Cancelling the outermost of three gathers reaches the futures at the bottom in that
call."""

from scenario import *


async def gatherer(name, parts):
    await tell(name, asyncio.gather(*parts))


async def scenario():
    futures = [new_future() for _ in range(4)]
    left = asyncio.create_task(gatherer("left", futures[:2]))
    right = asyncio.create_task(gatherer("right", futures[2:]))
    top = asyncio.create_task(gatherer("top", [left, right]))
    ticks = asyncio.create_task(ticker(6))
    await turns(1)
    trace("cancel: %s", result_of(top.cancel()))
    trace("futures: %s %s %s %s", *map(state, futures))
    trace("top: %s", await outcome(top))
    trace("left %s, right %s", state(left), state(right))
    await ticks
