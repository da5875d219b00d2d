"""With the last of three callbacks removed the first two are called, and one added
after."""

from scenario import *


async def scenario():
    future = new_future()
    callbacks = [lambda f, i=i: trace("callback %d", i) for i in range(4)]
    for callback in callbacks[:3]:
        future.add_done_callback(callback)
    trace("removed %d", future.remove_done_callback(callbacks[2]))
    trace("removed %d", future.remove_done_callback(callbacks[2]))
    future.add_done_callback(callbacks[3])
    future.cancel()
    await turns(1)
    trace("state: %s", state(future))
