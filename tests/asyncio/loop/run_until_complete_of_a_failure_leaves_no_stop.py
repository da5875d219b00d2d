"""A task that fails at once ends the run; the next run is not stopped by what is left of it."""

from scenario import *


async def fail():
    raise Failure("EIO")


def scenario():
    loop = VirtualLoop()
    try:
        loop.run_until_complete(fail())
    except Failure as failure:
        trace("run: %s", name_of(failure))

    def last():
        trace("reached")
        loop.stop()

    loop.call_soon(loop.call_soon, last)
    loop.run_forever()
    loop.close()
