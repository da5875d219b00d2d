"""A failure calls the callbacks as a result does; looking at it is up to them."""

from scenario import *


async def scenario():
    future = new_future()
    future.add_done_callback(lambda f: trace("sees %s", state(f)))
    future.add_done_callback(lambda f: trace("sees it is done: %s", result_of(f.done())))
    await asyncio.sleep(1)
    future.set_exception(Failure("EIO"))
    trace("failed")
    await asyncio.sleep(1)
    trace("future: %s", state(future))
