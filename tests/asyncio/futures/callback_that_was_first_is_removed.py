"""A callback that is removed is not called; to remove it again removes nothing."""

from scenario import *


async def scenario():
    future = new_future()
    callbacks = [lambda f, i=i: trace("callback %d", i) for i in range(3)]
    for callback in callbacks:
        future.add_done_callback(callback)
    trace("removed %d", future.remove_done_callback(callbacks[0]))
    trace("removed %d", future.remove_done_callback(callbacks[0]))
    future.set_result(1)
    trace("set")
    await turns(1)
    trace("state: %s", state(future))
