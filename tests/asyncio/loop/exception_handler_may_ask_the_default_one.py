"""A handler may have the default one print what it was told, and goes on after that."""

from scenario import *


def handler(loop, context):
    tell_exception(loop, context)
    loop.default_exception_handler(context)
    trace("printed")


async def body():
    raise Failure("EIO")


async def scenario():
    asyncio.get_running_loop().set_exception_handler(handler)
    asyncio.create_task(body())
    await turns(3)
    trace("end")
