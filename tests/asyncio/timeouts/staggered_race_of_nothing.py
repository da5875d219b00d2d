"""A race of nothing is won by nobody."""

from scenario import *

from asyncio.staggered import staggered_race


async def race(works, delay):
    result, winner, errors = await staggered_race(works, delay)
    if winner is None:
        trace("nobody won")
    else:
        trace("winner %d: %s", winner, result_of(result))
    for index, error in enumerate(errors):
        if error is not None:
            trace("%d: %s", index, name_of(error))


async def scenario():
    await race([], None)
    await race([], 1)
