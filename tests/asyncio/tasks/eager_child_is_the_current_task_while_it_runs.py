"""While an eager child runs it is the current task, and afterwards its spawner is again.

Since: 3.12
"""

from scenario import *


def current():
    task = asyncio.current_task()
    return task.get_name() if task else "none"


async def child():
    trace("begins: %s", current())
    await asyncio.sleep(1)
    trace("goes on: %s", current())


async def scenario():
    asyncio.current_task().set_name("main")
    trace("before: %s", current())
    task = eager_task(child(), name="child")
    trace("after: %s", current())
    await task
    trace("at the end: %s", current())
