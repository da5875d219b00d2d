"""A failure that somebody has asked for, by result, exception or await, is not reported."""

from scenario import *


def failed():
    future = new_future()
    future.set_exception(Failure("EIO"))
    return future


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    future = failed()
    trace("result: %s", attempt(future.result))
    del future
    future = failed()
    trace("exception: %s", name_of(future.exception()))
    del future
    future = failed()
    trace("awaited: %s", await outcome(future))
    del future
    future = failed()
    trace("done: %d", future.done())
    del future
    trace("end")
