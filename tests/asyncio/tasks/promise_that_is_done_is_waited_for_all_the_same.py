"""A promise that is done before it is awaited takes two turns as well."""

import concurrent.futures

from scenario import *


def new_promise():
    return concurrent.futures.Future()


async def scenario():
    promise = new_promise()
    promise.set_result(6)
    asyncio.create_task(ticker(3))
    await tell("first", asyncio.wrap_future(promise))
    await tell("second", asyncio.wrap_future(promise))
