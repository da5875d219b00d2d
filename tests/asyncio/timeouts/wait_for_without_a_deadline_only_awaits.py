"""Without a deadline it awaits, and that is all."""

from scenario import *


async def sleeper():
    try:
        return await tell("sleep", asyncio.sleep(10, 7))
    finally:
        trace("ends")


async def scenario():
    task = asyncio.create_task(sleeper())
    trace("wait_for: %s", await outcome(asyncio.wait_for(task, None)))
