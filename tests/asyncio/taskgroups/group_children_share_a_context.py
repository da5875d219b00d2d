"""Children that are given one context set their variables there, one after the other."""

from scenario import *

var = contextvars.ContextVar("var", default=0)


async def child(value):
    await asyncio.sleep(0)
    trace("child finds %d", var.get())
    var.set(value)


async def scenario():
    async with telling_group() as group:
        context = contextvars.copy_context()
        for value in 1, 2:
            await group.create_task(child(value), context=context)
            trace("there %d, here %d", context.run(var.get), var.get())
