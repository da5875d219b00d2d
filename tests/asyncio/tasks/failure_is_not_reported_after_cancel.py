"""A failure nobody asked for is reported, but not once somebody has tried to cancel
it."""

from scenario import *


async def body():
    raise Failure("EIO")


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    for cancels in True, False:
        trace("cancels" if cancels else "leaves it")
        task = asyncio.create_task(body())
        await asyncio.sleep(1)
        if cancels:
            trace("cancel: %s", result_of(task.cancel()))
        task = None
        trace("gone")
