"""What the main coroutine fails with, run() fails with."""

from scenario import *


def run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def main(name):
    await asyncio.sleep(1)
    trace("main fails")
    raise Failure(name)


def scenario():
    trace("run: %s", attempt(run, main("EIO")))
    trace("run: %s", attempt(run, main("EPERM")))
