"""Children of a group can be given a context as well."""

from scenario import *


color = contextvars.ContextVar("color", default="none")


async def body(value):
    trace("%s finds %s", value, color.get())
    await asyncio.sleep(1)
    color.set(value)


async def scenario():
    context = contextvars.copy_context()
    async with asyncio.TaskGroup() as group:
        await group.create_task(body("red"), context=context)
        await group.create_task(body("green"), context=context)
        await group.create_task(body("own"))
        trace("group: %s", color.get())
    trace("context: %s", context.run(color.get))
