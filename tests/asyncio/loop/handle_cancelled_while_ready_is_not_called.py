"""A call that is ready is cancelled before its turn, and by a callback within its very turn."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    cancelled = loop.call_soon(trace, "never printed")
    trace("before: %d", cancelled.cancelled())
    cancelled.cancel()
    trace("cancelled: %d", cancelled.cancelled())
    cancelled.cancel()
    trace("twice: %d", cancelled.cancelled())
    later = None

    def cancel_later():
        trace("cancels")
        later.cancel()

    loop.call_soon(cancel_later)
    later = loop.call_soon(trace, "never printed either")
    loop.call_soon(trace, "the third is called")
    loop.call_soon(loop.stop)
    loop.run_forever()
    trace("both: %d %d", cancelled.cancelled(), later.cancelled())
    loop.close()
