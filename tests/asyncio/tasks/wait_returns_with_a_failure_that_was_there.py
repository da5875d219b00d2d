"""wait() for a failure returns at once where one of its tasks has failed already."""

from scenario import *


async def body():
    trace("fails")
    raise Failure("EIO")


async def scenario():
    slow = asyncio.create_task(asyncio.sleep(10))
    bad = asyncio.create_task(body())
    await turns(2)
    ticks = asyncio.create_task(ticker(3))
    done, _ = await asyncio.wait([slow, bad], return_when=asyncio.FIRST_EXCEPTION)
    trace("done %d: slow %s, bad %s", len(done), state(slow), state(bad))
    await asyncio.wait([slow, bad, ticks])
    trace("slow %s", state(slow))
