"""What a timer's callback calls soon comes after all that was due with the timer."""

from scenario import *


def scenario():
    loop = VirtualLoop()

    def due():
        trace("due")
        loop.call_soon(trace, "called soon")
        loop.call_soon(loop.stop)

    loop.call_later(2, due)
    loop.call_later(2, trace, "due as well")
    loop.run_forever()
    loop.close()
