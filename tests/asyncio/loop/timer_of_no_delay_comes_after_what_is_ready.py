"""A timer without a delay is due in the next turn, behind what is ready by then."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    loop.call_later(0, trace, "a timer")
    loop.call_soon(trace, "soon")
    loop.call_at(0, loop.stop)
    loop.call_soon(trace, "soon too")
    loop.run_forever()
    loop.close()
