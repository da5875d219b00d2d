"""A handler may start a task and ask for calls; they are made in the turns that follow."""

from scenario import *


async def clean_up():
    trace("clean up: begin")
    await asyncio.sleep(1)
    trace("clean up: end")


def handler(loop, context):
    tell_exception(loop, context)
    loop.call_soon(trace, "called soon")
    loop.create_task(clean_up())


async def body():
    raise Failure("EIO")


async def scenario():
    asyncio.get_running_loop().set_exception_handler(handler)
    asyncio.create_task(body())
    await ticker(4)
    await asyncio.sleep(2)
