"""A task keeps the name it was given, inside and outside, and may be given another."""

from scenario import *


async def body():
    task = asyncio.current_task()
    trace("begins as %s", task.get_name())
    await asyncio.sleep(1)
    trace("goes on as %s", task.get_name())


async def scenario():
    task = asyncio.create_task(body(), name="no-op")
    trace("created: %s", task.get_name())
    await turns(1)
    task.set_name("op")
    trace("renamed: %s", task.get_name())
    await task
    trace("ended: %s", task.get_name())
