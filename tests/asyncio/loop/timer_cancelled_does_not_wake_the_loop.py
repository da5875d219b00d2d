"""The earliest timer is cancelled: nothing happens until the next one is due."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    first = loop.call_later(5, trace, "never printed")
    loop.call_later(10, loop.stop)
    first.cancel()
    loop.run_forever()
    trace("stopped at %d, cancelled: %d", loop.time(), first.cancelled())
    loop.close()
