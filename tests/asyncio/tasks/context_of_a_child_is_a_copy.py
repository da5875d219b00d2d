"""A child begins with what is set as it is spawned; what either sets later the other does not see."""

from scenario import *


color = contextvars.ContextVar("color", default="none")


async def child():
    trace("child: %s", color.get())
    await asyncio.sleep(2)
    trace("child: %s", color.get())
    color.set("green")
    trace("child: %s", color.get())


async def scenario():
    early = asyncio.create_task(child())
    color.set("red")
    late = asyncio.create_task(child())
    await asyncio.sleep(1)
    color.set("blue")
    trace("main: %s", color.get())
    await early
    await late
    trace("main: %s", color.get())
