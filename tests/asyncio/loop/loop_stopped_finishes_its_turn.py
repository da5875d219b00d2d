"""Stopping lets the turn end; what became ready in it waits for the loop to run again."""

from scenario import *


def scenario():
    loop = VirtualLoop()

    def stop_and_go_on():
        trace("stops, twice")
        loop.stop()
        loop.stop()
        loop.call_soon(trace, "in the next run")
        loop.call_soon(loop.stop)

    loop.call_soon(stop_and_go_on)
    loop.call_soon(trace, "still in this turn")
    loop.run_forever()
    trace("returned")
    loop.run_forever()
    trace("returned again")
    loop.close()
