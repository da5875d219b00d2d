"""Tasks that are given a context run in it, one after the other or side by side: what one sets, the others see."""

from scenario import *


color = contextvars.ContextVar("color", default="none")


async def body(value):
    trace("%s finds %s", value, color.get())
    color.set(value)
    await asyncio.sleep(1)
    trace("%s has %s", value, color.get())


async def scenario():
    color.set("white")
    context = contextvars.copy_context()
    color.set("main's")
    await asyncio.create_task(body("red"), context=context)
    trace("main: %s, context: %s", color.get(), context.run(color.get))
    await asyncio.gather(asyncio.create_task(body("green"), context=context),
                         asyncio.create_task(body("blue"), context=context))  # fmt: skip
    trace("main: %s, context: %s", color.get(), context.run(color.get))
