"""A task that failed and was never asked is reported as its last reference goes: at its end,
if nobody holds it."""

from scenario import *


async def body(name):
    await asyncio.sleep(1)
    trace("%s fails", name)
    raise Failure("EIO")


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    held = asyncio.create_task(body("held"))
    asyncio.create_task(body("loose"))
    await asyncio.sleep(2)
    trace("done: %d", held.done())
    del held
    trace("let go")
