"""A future that is done lets the loop take one turn: what was ready before is called."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    future = loop.create_future()
    future.set_result(7)
    loop.call_soon(loop.call_soon, trace, "in the next run")
    loop.call_soon(trace, "in the first run")
    trace("first: %d", loop.run_until_complete(future))
    trace("second: %d", loop.run_until_complete(future))
    loop.close()
