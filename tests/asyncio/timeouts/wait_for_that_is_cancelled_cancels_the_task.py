"""Cancelling who waits, with a deadline or without, cancels the task.

Since: 3.12
"""

from scenario import *


async def sleeper():
    try:
        return await tell("sleep", asyncio.sleep(10, 7))
    finally:
        trace("ends")


async def scenario():
    for delay in None, 60:
        task = asyncio.create_task(sleeper())
        waiter = asyncio.create_task(asyncio.wait_for(task, delay))
        asyncio.get_running_loop().call_soon(waiter.cancel)
        asyncio.create_task(ticker(4))
        trace("waiter: %s", await outcome(waiter))
        trace("task: %s", state(task))
        await turns(4)
