"""A future begins pending; cancelling it takes effect in that very call."""

from scenario import *


async def scenario():
    future = new_future()
    trace("done %s, cancelled %s", result_of(future.done()), result_of(future.cancelled()))
    trace("cancel: %s", result_of(future.cancel()))
    trace("done %s, cancelled %s", result_of(future.done()), result_of(future.cancelled()))
    trace("awaited: %s", await outcome(future))
