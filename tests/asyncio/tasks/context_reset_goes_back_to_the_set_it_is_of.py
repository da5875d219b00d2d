"""Resets go back to what was before the set they are of, nested or not."""

from scenario import *


color = contextvars.ContextVar("color", default="none")
shape = contextvars.ContextVar("shape", default="none")


def show(what):
    trace("%s: %s, %s", what, color.get(), shape.get())


async def scenario():
    first = color.set("red")
    second = color.set("green")
    show("set twice")
    color.reset(second)
    show("reset once")
    other = shape.set("round")
    await asyncio.create_task(turns(1))
    shape.set("square")
    color.reset(first)
    show("reset out of order")
    shape.reset(other)
    show("reset all")
