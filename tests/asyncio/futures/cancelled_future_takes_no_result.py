"""A future that was cancelled refuses a result and a failure, and stays cancelled."""

from scenario import *


async def scenario():
    future = new_future()
    trace("cancel: %s", result_of(future.cancel()))
    trace("set: %s", attempt(future.set_result, 1))
    trace("fail: %s", attempt(future.set_exception, Failure("EIO")))
    trace("cancel: %s", result_of(future.cancel()))
    trace("state: %s", state(future))
    trace("awaited: %s", await outcome(future))
