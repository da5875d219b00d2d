"""A timer cancels a block of code; uncancel after it tells a timeout from a
cancellation."""

from scenario import *


async def timed(delay, timeout):
    task = asyncio.current_task()
    fired = False

    def fire():
        nonlocal fired
        fired = True
        trace("the timer cancels")
        task.cancel()

    timer = asyncio.get_running_loop().call_later(timeout, fire)
    rc = await outcome(asyncio.sleep(delay))
    timer.cancel()
    if fired and task.uncancel() == 0 and rc == "ECANCELED":
        rc = "ETIMEDOUT"
    trace("the block: %s, counted %d", rc, task.cancelling())
    trace("after it: %s", await outcome(asyncio.sleep(0)))


async def scenario():
    for delay, timeout in (10, 1), (1, 10):
        task = asyncio.create_task(timed(delay, timeout))
        trace("awaited: %s", await outcome(task))
