"""Each run has a new loop, whose clock begins anew, and there is none before, between and after."""

from scenario import *


def has_loop():
    return asyncio._get_running_loop() is not None


def run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def main():
    trace("main begins, loop: %d", has_loop())
    await asyncio.sleep(2)
    trace("main ends")


def scenario():
    for _ in range(2):
        trace("loop: %d", has_loop())
        run(main())
    trace("loop: %d", has_loop())
