"""A deadline is a time of the loop's clock, wherever that stands; one that has passed is due."""

from scenario import *


def scenario():
    loop = VirtualLoop()

    def at_three():
        trace("at three")
        loop.call_at(2, trace, "two has passed")
        loop.call_at(5, trace, "at five")
        loop.call_later(5, loop.stop)

    loop.call_at(3, at_three)
    loop.run_forever()
    loop.close()
