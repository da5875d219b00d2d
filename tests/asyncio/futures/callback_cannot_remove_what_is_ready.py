"""Once a future is done its callbacks are on their way: one cannot remove those behind
it."""

from scenario import *


async def scenario():
    future = new_future()

    def second(_):
        trace("second")

    def first(f):
        trace("first removes %d", f.remove_done_callback(second))

    for callback in first, second, second:
        future.add_done_callback(callback)
    future.set_result(1)
    trace("set; removed %d", future.remove_done_callback(second))
    await turns(1)
    trace("one turn later")
