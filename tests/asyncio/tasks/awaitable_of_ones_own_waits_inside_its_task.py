"""An awaitable of the user's own waits step by step, with others between, and has a
result."""

from scenario import *


class Countdown:
    def __init__(self, ticks):
        self.ticks = ticks

    def __await__(self):
        while self.ticks > 0:
            trace("countdown: %d", self.ticks)
            self.ticks -= 1
            yield
        return 99


async def body(countdown):
    return await countdown


async def scenario():
    ticks = asyncio.create_task(ticker(3))
    trace("awaited: %s", await outcome(Countdown(2)))
    task = asyncio.create_task(body(Countdown(2)))
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("in a task: %s", await outcome(task))
    await ticks
