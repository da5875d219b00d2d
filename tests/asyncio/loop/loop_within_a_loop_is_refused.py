"""While a loop runs, its thread runs no other."""

from scenario import *


async def scenario():
    other = VirtualLoop()
    try:
        other.run_until_complete(other.create_future())
    except RuntimeError:
        trace("refused")
    other.close()
    await asyncio.sleep(1)
    trace("the first goes on")
