"""Of tasks that are gathered one failure is handed on; those that fail later are not reported: it
was known that they might."""

from scenario import *


async def body(seconds):
    await asyncio.sleep(seconds)
    trace("%d fails", seconds)
    raise Failure("EIO")


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    gathered = asyncio.gather(*[asyncio.create_task(body(i)) for i in (1, 2, 3)])
    asyncio.create_task(body(4))
    trace("gathered: %s", await outcome(gathered))
    del gathered
    await asyncio.sleep(4)
