"""Those who await, shield, gather, wait and call back are served in the order in which they
came; gather, wait and shield need a turn more."""

from scenario import *


async def scenario():
    future = new_future()

    async def awaits():
        await tell("await", future)

    async def shields():
        await tell("shield", asyncio.shield(future))

    async def gathers():
        await tell("gather", asyncio.gather(future))

    async def waits():
        await tell("wait", asyncio.wait([future]))

    tasks = [asyncio.create_task(body()) for body in (waits, gathers, shields, awaits)]
    await turns(1)
    future.add_done_callback(lambda f: trace("callback"))
    tasks.append(asyncio.create_task(ticker(3)))
    future.set_result(0)
    await asyncio.wait(tasks)
