"""Two timers are due together: the first cancels the second, which is ready by then."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    second = None

    def first():
        trace("first")
        second.cancel()
        loop.call_later(1, loop.stop)

    loop.call_later(3, first)
    second = loop.call_later(3, trace, "never printed")
    loop.call_later(3, trace, "third")
    loop.run_forever()
    trace("cancelled: %d", second.cancelled())
    loop.close()
