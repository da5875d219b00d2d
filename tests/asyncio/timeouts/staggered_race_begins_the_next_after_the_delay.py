"""A work that takes longer than the delay is joined by the next, and cancelled when that
wins.
"""

from scenario import *

from asyncio.staggered import staggered_race


async def work(index, seconds, result=0, fails=None):
    trace("%d begins", index)
    await tell(str(index), asyncio.sleep(seconds))
    if fails:
        raise Failure(fails)
    return result


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
    await race(
        [
            lambda: work(0, 10, 10),
            lambda: work(1, 1, 11),
        ],
        2,
    )
    trace("over")
    await tell("sleep", asyncio.sleep(1))
