"""A task that ends at the deadline of the wait() for it: the turn's order decides."""

from scenario import *


async def scenario():
    early = asyncio.create_task(asyncio.sleep(2))
    slow = asyncio.create_task(asyncio.sleep(4))
    await turns(1)
    done, _ = await asyncio.wait([early, slow], timeout=2)
    trace("done %d: %s %s", len(done), state(early), state(slow))
    early = asyncio.create_task(asyncio.sleep(2))
    done, _ = await asyncio.wait([early, slow], timeout=2)
    trace("done %d: %s %s", len(done), state(early), state(slow))
    await asyncio.wait([early, slow])
