"""Tasks that are left when main has ended are cancelled, and waited for."""

from scenario import *


def run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def leftover(seconds):
    trace("leftover: %s", await outcome(asyncio.sleep(10)))
    await asyncio.sleep(seconds)
    trace("leftover of %d s has cleaned up", seconds)


async def main():
    asyncio.create_task(leftover(1))
    asyncio.create_task(leftover(3))
    await asyncio.sleep(2)
    trace("main ends")
    return 123


def scenario():
    trace("run: %d", run(main()))
