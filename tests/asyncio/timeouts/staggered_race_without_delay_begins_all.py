"""With a delay of 0 all begin, some turns after each other."""

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
    asyncio.create_task(ticker(12))
    await race(
        [
            lambda: work(0, 3, fails="EIO"),
            lambda: work(1, 2, 11),
            lambda: work(2, 1, fails="EPROTO"),
        ],
        0,
    )
    trace("over")
    await tell("sleep", asyncio.sleep(1))
