"""A task that is started as from another thread begins two turns later, and its promise gets its result."""

from scenario import *


async def body():
    trace("begins")
    await asyncio.sleep(2)
    trace("ends")
    return 7


async def scenario():
    loop = asyncio.get_running_loop()
    asyncio.create_task(ticker(3))
    promise = asyncio.run_coroutine_threadsafe(body(), loop)
    trace("asked")
    await tell("promise", asyncio.wrap_future(promise))
