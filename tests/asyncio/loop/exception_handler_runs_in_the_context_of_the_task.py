"""A handler that is told of a task sees the variables as that task has left them, whoever lets go
of it.

Since: 3.12
"""

from scenario import *


name = contextvars.ContextVar("name", default="nobody")


def handler(loop, context):
    trace("%s in the context of %s", context["message"], name.get())


async def body(who):
    name.set(who)
    raise Failure("EIO")


async def scenario():
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(handler)
    held = asyncio.create_task(body("Ada"))
    asyncio.create_task(body("Grace"))
    await turns(2)
    name.set("main")
    del held
    loop.call_exception_handler({"message": "hello"})
    trace("here: %s", name.get())
