"""What one run of a runner sets, the next one sees; the caller does not."""

from scenario import *


color = contextvars.ContextVar("color", default="none")


async def swap(value):
    old = color.get()
    await asyncio.sleep(1)
    color.set(value)
    trace("was %s, is %s", old, color.get())


def scenario():
    color.set("white")
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(swap("red"))
        runner.run(swap("green"))
        trace("caller: %s", color.get())
        runner.run(swap("blue"))
