"""A sleep takes its delay on the loop's clock, no more."""

from scenario import *


async def scenario():
    trace("sleeps")
    trace("slept: %s", await outcome(asyncio.sleep(3)))
