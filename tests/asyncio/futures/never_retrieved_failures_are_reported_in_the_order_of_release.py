"""Which failure came first does not matter: what is let go of first is reported first."""

from scenario import *


async def body(i):
    await asyncio.sleep(i)
    trace("%d fails", i)
    raise Failure(("EIO", "EPROTO", "EBADF")[i])


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    tasks = [asyncio.create_task(body(i)) for i in range(3)]
    await asyncio.sleep(3)
    for i in (1, 2, 0):
        trace("let go of %d", i)
        tasks[i] = None
