"""What a child sets before it waits is there when its spawner asks.

Since: 3.12
"""

from scenario import *


async def setter(future):
    trace("child sets")
    future.set_result(4)


async def scenario():
    future = new_future()
    task = eager_task(setter(future))
    trace("child: %s, future: %s", state(task), state(future))
    await tell("awaited", future)
