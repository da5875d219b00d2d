"""To wait until all have ended is not to ask what they came to."""

from scenario import *


async def body(i, fails):
    await asyncio.sleep(i)
    trace("%d ends", i)
    if fails:
        raise Failure("EIO")


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    tasks = [asyncio.create_task(body(i + 1, fails)) for i, fails in enumerate((True, True))]
    await asyncio.wait(tasks, return_when=asyncio.ALL_COMPLETED)
    trace("waited")
    await asyncio.sleep(3)
    while tasks:
        del tasks[0]
        trace("let go of one")
