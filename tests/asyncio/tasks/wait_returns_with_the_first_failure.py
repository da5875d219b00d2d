"""wait() for a failure lets results and cancellations pass, and returns with a
failure."""

from scenario import *


async def failer():
    await asyncio.sleep(3)
    raise Failure("EIO")


async def scenario():
    tasks = [asyncio.create_task(c) for c in (asyncio.sleep(10), asyncio.sleep(1), failer())]
    future = new_future()
    asyncio.get_running_loop().call_later(2, future.cancel)
    done, _ = await asyncio.wait([*tasks, future], return_when=asyncio.FIRST_EXCEPTION)
    trace("done %d: %s %s %s %s", len(done), *map(state, tasks), state(future))
    await tasks[0]
