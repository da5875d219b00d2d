"""Staggered races."""

from asyncio.staggered import staggered_race

from scenario import *


async def work(index, seconds, result=0, fails=None):
    trace("%d begins", index)
    await trace_outcome(str(index), asyncio.sleep(seconds))
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


@scenario
async def staggered_race_begins_the_next_after_the_delay():
    """If the first function takes longer than the delay, the second starts too. When the second wins, the first is
    cancelled.
    """
    await race(
        [
            lambda: work(0, 10, 10),
            lambda: work(1, 1, 11),
        ],
        2,
    )
    trace("over")
    await trace_outcome("sleep", asyncio.sleep(1))


@scenario
async def staggered_race_goes_on_after_a_failure():
    """If a function fails, the next one starts at once, however long the delay is."""
    await race(
        [
            lambda: work(0, 1, fails="EIO"),
            lambda: work(1, 2, 11),
            lambda: work(2, 3, 12),
        ],
        60,
    )
    trace("over")
    await trace_outcome("sleep", asyncio.sleep(1))


@scenario
async def staggered_race_needs_only_the_first():
    """If the first function succeeds within the delay, it wins, and the second never begins."""
    asyncio.create_task(ticker(8))
    await race(
        [
            lambda: work(0, 0, 10),
            lambda: work(1, 0, 11),
        ],
        None,
    )
    trace("over")
    await trace_outcome("sleep", asyncio.sleep(1))


@scenario
async def staggered_race_of_nothing():
    """A race without functions has no winner."""
    await race([], None)
    await race([], 1)


@scenario
async def staggered_race_of_three_is_won_by_the_second():
    """Each function begins one delay after the previous one, and the first function that succeeds is the winner."""
    await race(
        [
            lambda: work(0, 6, 10),
            lambda: work(1, 3, 11),
            lambda: work(2, 2, 12),
        ],
        2,
    )
    trace("over")
    await trace_outcome("sleep", asyncio.sleep(1))


@scenario
async def staggered_race_that_nobody_wins():
    """If all functions fail one after another, there is no winner."""
    await race(
        [
            lambda: work(0, 1, fails="EIO"),
            lambda: work(1, 1, fails="EPROTO"),
        ],
        None,
    )
    trace("over")
    await trace_outcome("sleep", asyncio.sleep(1))


@scenario
async def staggered_race_without_delay_begins_all():
    """With a delay of 0, all functions begin, each a few turns after the previous one."""
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
    await trace_outcome("sleep", asyncio.sleep(1))
