"""A waiter leaves a shield; the future that fails after that is reported, if a turn has passed."""

from scenario import *


async def body(future):
    await tell("told", asyncio.shield(future))


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    for how in "cancel, a turn, fail", "cancel, fail", "fail, cancel":
        trace("%s", how)
        future = new_future()
        task = asyncio.create_task(body(future))
        await turns(1)
        for step in how.split(", "):
            if step == "cancel":
                task.cancel()
            elif step == "fail":
                future.set_exception(Failure("EIO"))
            else:
                await turns(2)
        trace("awaited: %s", await outcome(task))
        await turns(1)
        future = task = None
