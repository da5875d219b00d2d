"""With the first two of three callbacks removed the third is called alone."""

from scenario import *


async def scenario():
    future = new_future()
    callbacks = [lambda f, i=i: trace("callback %d", i) for i in range(3)]
    for callback in callbacks:
        future.add_done_callback(callback)
    for i in 0, 1, 0:
        trace("removed %d", future.remove_done_callback(callbacks[i]))
    future.set_result(1)
    await turns(1)
    trace("state: %s", state(future))
