"""A callback of a future that is done already is called in the next turn, not at once."""

from scenario import *


async def scenario():
    future = new_future()
    future.set_result(4)

    def late(f):
        trace("late: %s", state(f))
        f.add_done_callback(lambda _: trace("later still"))
        trace("added another")

    ticks = asyncio.create_task(ticker(3))
    future.add_done_callback(late)
    trace("added")
    await ticks
