"""A loop that is stopped leaves its task where it stands; running it again goes on
there."""

from scenario import *

count = 0


async def body(loop):
    global count
    while count < 5:
        await asyncio.sleep(1)
        count += 1
        trace("counts %d", count)
        if count == 2:
            loop.stop()
    return count


def scenario():
    loop = VirtualLoop()
    task = loop.create_task(body(loop))
    try:
        loop.run_until_complete(task)
    except RuntimeError:
        trace("stopped at %d: %s", count, state(task))
    trace("again: %d", loop.run_until_complete(task))
    trace("task: %s", state(task))
    loop.close()
