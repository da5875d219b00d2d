"""What the main task leaves behind is cancelled; what fails then is reported when all has ended, in
the order of its making, even if somebody asks for it."""

from scenario import *


def handler(loop, context):
    trace("%s: %s", context["task"].get_name(), name_of(context["exception"]))


async def leftover(seconds):
    try:
        await asyncio.sleep(9)
    except asyncio.CancelledError:
        await asyncio.sleep(seconds)
        trace("%d fails", seconds)
        raise Failure("EIO") from None


async def asks(task):
    try:
        await asyncio.sleep(9)
    except asyncio.CancelledError:
        await tell("asked", task)


async def scenario():
    asyncio.get_running_loop().set_exception_handler(handler)
    slow = asyncio.create_task(leftover(2), name="slow")
    asyncio.create_task(leftover(1), name="swift")
    asyncio.create_task(asks(slow), name="task-asks")
    await asyncio.sleep(1)
    trace("the main task ends")
