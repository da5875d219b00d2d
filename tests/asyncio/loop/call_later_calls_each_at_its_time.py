"""Calls are made in the order of their deadlines; the handle knows its own."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    five = loop.call_later(5, trace, "after five")
    two = loop.call_later(2, trace, "after two")
    loop.call_later(9, loop.stop)
    loop.call_later(3, trace, "after three")
    trace("due at %d and %d", five.when(), two.when())
    loop.run_forever()
    trace("cancelled: %d", five.cancelled())
    loop.close()
