"""A child has the name it was started with."""

from scenario import *


async def child():
    trace("child is %s", asyncio.current_task().get_name())
    await asyncio.sleep(0)


async def scenario():
    async with telling_group() as group:
        task = group.create_task(child(), name="yolo")
        trace("it is %s", task.get_name())
