"""What is called soon when the future is set is called in the turn that ends the run; what that calls soon, in the next run."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    future = loop.create_future()

    def set_future():
        future.set_result(1)
        loop.call_soon(inner)
        trace("set")

    def inner():
        trace("in the last turn")
        loop.call_soon(trace, "in another run")

    loop.call_later(2, set_future)
    loop.run_until_complete(future)
    trace("complete")
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
