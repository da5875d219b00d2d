"""A request for oneself lets pass what need not wait: done futures, gathers of them.

Since: 3.12
"""

from scenario import *


async def body(done):
    asyncio.current_task().cancel()
    await tell("done future", done)
    await tell("shield", asyncio.shield(done))
    trace("gathered %d", (await asyncio.gather(done, done))[1])
    await tell("yield", asyncio.sleep(0))


async def scenario():
    done = new_future()
    done.set_result(6)
    task = asyncio.create_task(body(done))
    trace("awaited: %s", await outcome(task))
