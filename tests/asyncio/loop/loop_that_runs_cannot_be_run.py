"""A loop is not run from its own callbacks, and goes on when somebody has tried."""

from scenario import *


def scenario():
    loop = VirtualLoop()

    def run_again():
        trace("running: %d", loop.is_running())
        try:
            loop.run_forever()
        except RuntimeError:
            trace("refused")
        loop.call_soon(trace, "goes on")
        loop.call_later(1, loop.stop)

    trace("running: %d", loop.is_running())
    loop.call_soon(run_again)
    loop.run_forever()
    trace("running: %d", loop.is_running())
    loop.close()
