"""A future that is set, or was set before, is known two turns later; one that is known
takes none.

Since: 3.13
"""

from scenario import *


async def scenario():
    early, late = new_future(), new_future()
    early.set_result(1)
    each = asyncio.as_completed([early, late])
    asyncio.create_task(ticker(6))
    trace("early: %s", state(await anext(each)))
    asyncio.get_running_loop().call_soon(late.set_result, 2)
    trace("late: %s", state(await anext(each)))
