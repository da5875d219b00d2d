"""A task awaits two others one after the other and returns what it made of them."""

from scenario import *


async def inner(value):
    trace("inner %d begins", value)
    await asyncio.sleep(1)
    return value


async def outer():
    left = await asyncio.create_task(inner(42))
    trace("got %d", left)
    right = await asyncio.create_task(inner(1000))
    trace("got %d", right)
    return left + right


async def scenario():
    task = asyncio.create_task(outer())
    trace("before: %s", state(task))
    trace("sum: %s", await outcome(task))
