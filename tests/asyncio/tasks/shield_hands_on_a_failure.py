"""A failure goes through a shield to who waits behind it, and leaves the others alone."""

from scenario import *


async def body(i, future):
    try:
        await asyncio.shield(future)
    except Failure as failure:
        trace("%d: %s", i, failure.args[0])
        return i
    return 0


async def scenario():
    future = new_future()
    tasks = [asyncio.create_task(body(i, future)) for i in (1, 2)]
    await asyncio.sleep(1)
    future.set_exception(Failure("EIO"))
    await asyncio.wait(tasks)
    trace("future %s, tasks %s %s", state(future), *map(state, tasks))
