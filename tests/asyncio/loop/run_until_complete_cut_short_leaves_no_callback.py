"""Stopped while it ran until one task was done, the loop is not stopped by that task's end later."""

from scenario import *


async def sleep(seconds):
    await asyncio.sleep(seconds)
    trace("slept %d", seconds)


def scenario():
    loop = VirtualLoop()
    one, two = loop.create_task(sleep(1)), loop.create_task(sleep(2))
    loop.call_soon(loop.stop)
    try:
        loop.run_until_complete(one)
    except RuntimeError:
        trace("cut short: %s", state(one))
    loop.run_until_complete(two)
    trace("the first: %s", state(one))
    loop.close()
