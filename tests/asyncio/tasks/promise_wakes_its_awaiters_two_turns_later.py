"""A promise that is set wakes the tasks that wait for it in the second turn, in their order."""

import concurrent.futures

from scenario import *


def new_promise():
    return concurrent.futures.Future()


async def body(name, promise):
    trace("%s: %s", name, await outcome(asyncio.wrap_future(promise)))


async def scenario():
    promise = new_promise()
    a = asyncio.create_task(body("a", promise))
    b = asyncio.create_task(body("b", promise))
    await asyncio.sleep(1)
    promise.set_result(5)
    trace("set")
    asyncio.create_task(ticker(3))
    await a
    await b
