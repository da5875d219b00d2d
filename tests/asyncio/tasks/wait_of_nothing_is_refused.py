"""wait() wants at least one future, and one of its three modes."""

from scenario import *


async def try_wait(futures, **options):
    try:
        await asyncio.wait(futures, **options)
    except ValueError:
        return "EINVAL"
    return "0"


async def scenario():
    future = new_future()
    trace("nothing: %s", await try_wait([]))
    trace("nothing, until 1: %s", await try_wait([], timeout=1))
    trace("no such mode: %s", await try_wait([future], return_when=-1))
    trace("until 1: %s", await try_wait([future], timeout=1))
    trace("the future: %s", state(future))
