"""Removing a callback removes each time that it was added, and says how many those
were."""

from scenario import *


async def scenario():
    future = new_future()
    callbacks = [lambda f, i=i: trace("callback %d", i) for i in range(4)]
    future.add_done_callback(callbacks[1])
    future.add_done_callback(callbacks[2])
    trace("removed %d", future.remove_done_callback(callbacks[2]))
    trace("removed %d", future.remove_done_callback(callbacks[3]))
    future.add_done_callback(callbacks[2])
    for _ in range(5):
        future.add_done_callback(callbacks[1])
    trace("removed %d", future.remove_done_callback(callbacks[1]))
    future.set_result(1)
    await turns(1)
    trace("removed %d", future.remove_done_callback(callbacks[2]))
