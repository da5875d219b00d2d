"""A future that is set in time is known to who waits in the next turn.

Since: 3.12
"""

from scenario import *


async def scenario():
    loop = asyncio.get_running_loop()
    future = new_future()
    loop.call_soon(future.set_result, 5)
    asyncio.create_task(ticker(3))
    trace("wait_for: %s", await outcome(asyncio.wait_for(future, 2)))
    await tell("sleep", asyncio.sleep(3))
