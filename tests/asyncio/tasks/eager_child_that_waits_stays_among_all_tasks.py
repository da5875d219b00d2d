"""An eager child that waits is among all tasks until it has ended.

Since: 3.12
"""

from scenario import *


def look(who):
    names = sorted(task.get_name() for task in asyncio.all_tasks())
    trace("%s sees %s", who, " ".join(names))


async def child(future):
    look("child")
    await future
    look("child")


async def scenario():
    asyncio.current_task().set_name("main")
    future = new_future()
    task = eager_task(child(future), name="patient")
    look("main")
    future.set_result(0)
    await task
    look("main")
