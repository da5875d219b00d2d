"""What is ready, or timed, when the loop closes is never called; the next loop begins anew."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    loop.call_later(4, loop.stop)
    loop.run_forever()
    trace("stopped at %d", loop.time())
    ready = loop.call_soon(trace, "never printed")
    loop.call_later(1, trace, "never printed either")
    loop.close()
    trace("closed: %d", ready.cancelled())
    loop = VirtualLoop()
    loop.call_later(1, trace, "another loop")
    loop.call_later(2, loop.stop)
    loop.run_forever()
    loop.close()
