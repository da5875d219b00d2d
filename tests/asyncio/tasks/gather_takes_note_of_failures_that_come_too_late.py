"""What fails after its gather has is not reported, at whatever moment it does."""

from scenario import *


async def body(futures):
    await tell("gather", asyncio.gather(*futures))


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    for delay in range(4):
        trace("%d turns later", delay)
        first, second = new_future(), new_future()
        task = asyncio.create_task(body([first, second]))
        await turns(1)
        first.set_exception(Failure("EIO"))
        await turns(delay)
        second.set_exception(Failure("ENOENT"))
        trace("both have failed: %s", state(task))
        await turns(4)
        trace("awaited: %s", await outcome(task))
        first = second = task = None
