"""What the loop's own thread posts is called in the order in which all of it was asked for."""

from scenario import *


def scenario():
    loop = VirtualLoop()

    def ask():
        loop.call_soon_threadsafe(trace, "posted")
        loop.call_soon(trace, "called soon")
        loop.call_soon_threadsafe(trace, "posted again")
        loop.call_soon(trace, "called soon again")
        loop.call_soon_threadsafe(loop.stop)

    loop.call_soon_threadsafe(ask)
    loop.run_forever()
    loop.close()
