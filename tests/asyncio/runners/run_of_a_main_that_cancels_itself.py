"""A main coroutine that is cancelled by its own doing: run() says so, it was no interrupt."""

from scenario import *


def run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def main():
    asyncio.current_task().cancel()
    trace("main waits")
    await asyncio.sleep(1)
    trace("never printed")


def scenario():
    trace("run: %s", attempt(run, main()))
