"""wait() for the first returns when that is done; the other goes on, and is not
cancelled."""

from scenario import *


async def scenario():
    slow = asyncio.create_task(asyncio.sleep(10))
    quick = asyncio.create_task(asyncio.sleep(1))
    done, _ = await asyncio.wait([slow, quick], return_when=asyncio.FIRST_COMPLETED)
    trace("done %d: slow %s, quick %s", len(done), state(slow), state(quick))
    done, _ = await asyncio.wait([slow, quick])
    trace("done %d: slow %s, quick %s", len(done), state(slow), state(quick))
