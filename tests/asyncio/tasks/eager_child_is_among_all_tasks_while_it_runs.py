"""An eager child that does not wait is among all tasks while it runs, and then no more.

Since: 3.12
"""

from scenario import *


def look(who):
    names = sorted(task.get_name() for task in asyncio.all_tasks())
    trace("%s sees %s", who, " ".join(names))


async def child():
    look("child")


async def scenario():
    asyncio.current_task().set_name("main")
    eager_task(child(), name="nimble")
    look("main")
