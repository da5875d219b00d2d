"""An eager child begins with what its spawner has set; what it sets itself the spawner does not see.

Since: 3.12
"""

from scenario import *


color = contextvars.ContextVar("color", default="none")


async def child():
    trace("child: %s", color.get())
    color.set("green")
    await asyncio.sleep(1)
    trace("child: %s", color.get())
    color.set("blue")


async def scenario():
    color.set("red")
    task = eager_task(child())
    trace("main: %s", color.get())
    await task
    trace("main: %s", color.get())
