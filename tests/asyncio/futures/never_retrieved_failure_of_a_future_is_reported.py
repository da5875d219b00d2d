"""A future that failed and was never asked is reported as its last reference goes: not before,
and once."""

from scenario import *


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    future = new_future()
    other = future
    future.set_exception(Failure("EIO"))
    trace("set")
    await turns(2)
    del future
    trace("one reference left")
    del other
    trace("none left")
