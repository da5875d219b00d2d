"""What the main coroutine returns, run() returns."""

from scenario import *


def run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def main():
    await asyncio.sleep(1)
    trace("main ends")
    return 42


def scenario():
    trace("run: %d", run(main()))
