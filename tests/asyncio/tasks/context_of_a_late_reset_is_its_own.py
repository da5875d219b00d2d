"""A value that is set for a region of code is inherited by what was spawned in it, and outlives the region there."""

from scenario import *


color = contextvars.ContextVar("color", default="none")


async def child(name):
    await asyncio.sleep(1)
    trace("%s: %s", name, color.get())


async def serve(name):
    token = color.set(name)
    task = asyncio.create_task(child(name))
    await asyncio.sleep(0)
    color.reset(token)
    trace("after %s: %s", name, color.get())
    return task


async def scenario():
    red = await serve("red")
    green = await serve("green")
    await red
    await green
