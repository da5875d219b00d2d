"""A request for oneself ends the next wait behind a shield, and what is behind it goes
on."""

from scenario import *


async def inner():
    await tell("inner", asyncio.sleep(2))
    return 8


async def body(task):
    asyncio.current_task().cancel()
    await tell("body", asyncio.shield(task))


async def scenario():
    inner_task = asyncio.create_task(inner())
    task = asyncio.create_task(body(inner_task))
    trace("task: %s", await outcome(task))
    trace("inner: %s", state(inner_task))
    trace("inner: %s", await outcome(inner_task))
