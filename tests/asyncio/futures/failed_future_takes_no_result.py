"""A future that has failed keeps its failure, for everybody who asks."""

from scenario import *


async def scenario():
    future = new_future()
    trace("before: %s", state(future))
    trace("fail: %s", attempt(future.set_exception, Failure("EIO")))
    trace("after: %s, cancelled %s", state(future), result_of(future.cancelled()))
    trace("set: %s", attempt(future.set_result, 1))
    trace("fail: %s", attempt(future.set_exception, Failure("ENOENT")))
    trace("cancel: %s", result_of(future.cancel()))
    for _ in range(2):
        trace("awaited: %s", await outcome(future))
