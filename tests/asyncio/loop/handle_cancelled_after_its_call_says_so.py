"""To cancel what was called already, or is being called, changes nothing but the handle's word."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    handle = None

    def body():
        handle.cancel()
        trace("in the call: %d", handle.cancelled())

    handle = loop.call_soon(body)
    called = loop.call_soon(trace, "called")
    loop.call_soon(loop.stop)
    loop.run_forever()
    trace("called: %d", called.cancelled())
    called.cancel()
    trace("afterwards: %d", called.cancelled())
    loop.close()
