"""A done callback runs in a copy of the context in which it was added; what it sets is seen by nobody else."""

from scenario import *


color = contextvars.ContextVar("color", default="none")


def on_done(future):
    trace("callback: %s", color.get())
    color.set("gone")


async def child(future):
    color.set("green")
    future.add_done_callback(on_done)
    await future
    trace("child: %s", color.get())


async def scenario():
    future = new_future()
    color.set("red")
    future.add_done_callback(on_done)
    task = asyncio.create_task(child(future))
    color.set("blue")
    await asyncio.sleep(1)
    future.set_result(0)
    await task
    trace("main: %s", color.get())
    future.add_done_callback(on_done)
    color.set("black")
    await turns(1)
    trace("main: %s", color.get())
