"""A future has its result from the moment it is set, and keeps the first."""

from scenario import *


async def scenario():
    future = new_future()
    trace("before: %s", state(future))
    trace("set: %s", attempt(future.set_result, 42))
    trace("after: %s, cancelled %s", state(future), result_of(future.cancelled()))
    trace("set: %s", attempt(future.set_result, 43))
    trace("fail: %s", attempt(future.set_exception, Failure("EIO")))
    trace("cancel: %s", result_of(future.cancel()))
    trace("awaited: %s", await outcome(future))
