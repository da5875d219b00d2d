"""A run that fails, or is cancelled, does not keep the runner from another."""

from scenario import *


async def fail(name):
    await asyncio.sleep(1)
    trace("fails")
    raise Failure(name)


async def cancel():
    asyncio.current_task().cancel()
    await asyncio.sleep(1)


async def work():
    await asyncio.sleep(1)
    return 5


def scenario():
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        trace("run: %s", attempt(runner.run, fail("EIO")))
        trace("run: %s", attempt(runner.run, cancel()))
        trace("run: %s", attempt(runner.run, work()))
