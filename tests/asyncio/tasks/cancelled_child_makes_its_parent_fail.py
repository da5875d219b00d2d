"""A parent may make a failure of its own out of its child's cancellation."""

from scenario import *


async def child(future):
    future.set_result(None)
    await tell("child", asyncio.sleep(10))


async def parent():
    future = new_future()
    task = asyncio.create_task(child(future))
    await future
    asyncio.get_running_loop().call_soon(task.cancel, "called off")
    try:
        await task
    except asyncio.CancelledError as error:
        trace("parent: %s", error.args[0])
        raise Failure("EINVAL")


async def scenario():
    task = asyncio.create_task(parent())
    trace("awaited: %s", await outcome(task))
    trace("counted: %d", task.cancelling())
