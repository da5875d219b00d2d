"""A task that stops its loop goes on until it waits, and after that when the loop runs again."""

from scenario import *


async def body(loop):
    loop.stop()
    trace("still runs")
    await asyncio.sleep(0)
    trace("runs again")
    await asyncio.sleep(1)
    return 5


def scenario():
    loop = VirtualLoop()
    task = loop.create_task(body(loop))
    try:
        loop.run_until_complete(task)
    except RuntimeError:
        trace("stopped: %s", state(task))
    trace("ends: %d", loop.run_until_complete(task))
    loop.close()
