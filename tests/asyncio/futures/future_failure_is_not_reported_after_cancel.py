"""A failed future that is dropped is reported; retrieved, or cancelled in vain, it is
not."""

from scenario import *


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    for how in "dropped", "retrieved", "cancelled":
        trace("%s", how)
        future = new_future()
        future.set_exception(Failure("EIO"))
        if how == "retrieved":
            trace("exception: %s", name_of(future.exception()))
        if how == "cancelled":
            trace("cancel: %s", result_of(future.cancel()))
        future = None
