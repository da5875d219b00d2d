"""Closing a runner that never ran closes its loop; a second time it does nothing."""

from scenario import *


def scenario():
    runner = asyncio.Runner(loop_factory=VirtualLoop)
    loop = runner.get_loop()
    trace("loop: %d", loop is not None)
    runner.close()
    trace("closed: %d", loop.is_closed())
    runner.close()
    trace("closed again: %d", loop.is_closed())
