"""Of the last one a wait for the first failure does not ask: it is over anyway."""

from scenario import *


async def body(i, fails):
    await asyncio.sleep(i)
    trace("%d ends", i)
    if fails:
        raise Failure("EIO")


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    tasks = [asyncio.create_task(body(i + 1, fails)) for i, fails in enumerate((False, True))]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    trace("waited")
    await asyncio.sleep(3)
    while tasks:
        del tasks[0]
        trace("let go of one")
