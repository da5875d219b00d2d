"""Who is cancelled in a shield asks no more: when what was shielded fails then, it is reported."""

from scenario import *


async def body():
    await asyncio.sleep(2)
    trace("fails")
    raise Failure("EIO")


async def waiter():
    await tell("shield", asyncio.shield(asyncio.create_task(body())))


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    task = asyncio.create_task(waiter())
    await asyncio.sleep(1)
    task.cancel()
    trace("waiter: %s", await outcome(task))
    await asyncio.sleep(2)
