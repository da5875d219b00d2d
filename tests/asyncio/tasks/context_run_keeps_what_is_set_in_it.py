"""A function that is run in a context sees what is set there, and what it sets stays there."""

from scenario import *


color = contextvars.ContextVar("color", default="none")


def swap(value):
    trace("found %s", color.get())
    color.set(value)
    asyncio.get_running_loop().call_soon(lambda: trace("called soon: %s", color.get()))
    return 3


async def scenario():
    color.set("red")
    context = contextvars.copy_context()
    color.set("green")
    trace("returned %d", context.run(swap, "blue"))
    trace("main: %s", color.get())
    trace("returned %d", context.run(swap, "black"))
    await turns(1)
