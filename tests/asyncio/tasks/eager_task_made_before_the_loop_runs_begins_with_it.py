"""Before the loop runs there is nobody to hand back to: an eager task begins with the first turn.

Since: 3.12
"""

from scenario import *


async def child():
    trace("child")
    return 9


def scenario():
    loop = VirtualLoop()
    task = asyncio.Task(child(), loop=loop, eager_start=True)
    trace("made: %s", state(task))
    trace("result: %s", loop.run_until_complete(task))
    loop.close()
