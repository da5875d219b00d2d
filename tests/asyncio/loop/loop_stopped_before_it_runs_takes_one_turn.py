"""A loop that is stopped before it runs takes one turn: what is ready, and no more."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    loop.call_soon(loop.call_soon, trace, "in the second turn")
    loop.call_soon(trace, "in the first turn")
    loop.call_later(1, trace, "never printed")
    loop.stop()
    loop.run_forever()
    trace("returned")
    loop.stop()
    loop.run_forever()
    trace("returned again, at %d", loop.time())
    loop.close()
