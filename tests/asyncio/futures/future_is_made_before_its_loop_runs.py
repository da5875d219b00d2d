"""A future may be made and given its callbacks while the loop does not run yet."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    future = loop.create_future()
    future.add_done_callback(lambda f: trace("callback: %s", state(f)))
    loop.call_later(2, future.set_result, 5)
    trace("before: %s", state(future))
    trace("result: %d", loop.run_until_complete(future))
    trace("again: %d", loop.run_until_complete(future))
    loop.close()
    trace("after: %s", state(future))
