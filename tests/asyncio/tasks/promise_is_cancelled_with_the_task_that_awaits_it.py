"""Cancelling a task that waits for a promise cancels the promise, and so whoever else waits for it."""

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
    a.cancel()
    trace("cancelled, promise done: %d", promise.done())
    await a
    trace("a ended, promise done: %d", promise.done())
    await b
    trace("set: %d", promise.cancelled())
