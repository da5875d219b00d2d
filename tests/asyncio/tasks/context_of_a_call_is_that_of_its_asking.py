"""Calls that are made soon, later, at a time or from outside run in a copy of the context in which they were asked for."""

from scenario import *


color = contextvars.ContextVar("color", default="none")


def call(how):
    trace("%s: %s", how, color.get())
    color.set("gone")


async def scenario():
    loop = asyncio.get_running_loop()
    color.set("red")
    loop.call_later(2, call, "later")
    loop.call_at(loop.time() + 1, call, "at")
    loop.call_soon(call, "soon")
    loop.call_soon_threadsafe(call, "post")
    color.set("green")
    loop.call_soon(call, "soon")
    color.set("blue")
    await asyncio.sleep(3)
    trace("main: %s", color.get())
