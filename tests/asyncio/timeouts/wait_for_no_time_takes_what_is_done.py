"""With no time at all a result that is there is taken, without a turn; a future that is
pending is cancelled.
"""

from scenario import *


async def scenario():
    asyncio.create_task(ticker(4))
    done, pending = new_future(), new_future()
    done.set_result(5)
    for future in done, pending:
        for delay in 0, -1:
            trace("wait_for: %s", await outcome(asyncio.wait_for(future, delay)))
            trace("future: %s", state(future))
