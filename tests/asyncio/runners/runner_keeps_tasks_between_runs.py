"""What a run leaves behind stands still until the next run, and is cancelled as the runner closes."""

from scenario import *


async def leftover():
    try:
        for i in range(9):
            trace("leftover: %d", i)
            await asyncio.sleep(3)
    except asyncio.CancelledError:
        trace("leftover is cancelled")
        raise


async def begin():
    asyncio.create_task(leftover())
    await asyncio.sleep(2)
    trace("first run ends")


async def go_on():
    trace("second run")
    await asyncio.sleep(5)


def scenario():
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(begin())
        trace("between")
        runner.run(go_on())
        trace("closing")
    trace("closed")
