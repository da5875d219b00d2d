"""A callback too may spawn eagerly: the child runs inside it.

Since: 3.12
"""

from scenario import *


async def child():
    trace("child begins")
    await asyncio.sleep(0)
    trace("child goes on")


async def scenario():
    def callback():
        trace("callback begins")
        eager_task(child())
        trace("callback ends, current task: %d", asyncio.current_task() is not None)

    asyncio.create_task(ticker(3))
    asyncio.get_running_loop().call_soon(callback)
    await turns(3)
