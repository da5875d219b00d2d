"""Callbacks are called in the order they were asked for; what they ask for comes a turn later."""

from scenario import *


def scenario():
    loop = VirtualLoop()

    def first():
        trace("first")
        loop.call_soon(trace, "from first")

    def second():
        trace("second")
        loop.call_soon(loop.stop)
        loop.call_soon(trace, "from second")

    loop.call_soon(first)
    loop.call_soon(second)
    loop.call_soon(trace, "third")
    trace("nothing yet")
    loop.run_forever()
    loop.close()
