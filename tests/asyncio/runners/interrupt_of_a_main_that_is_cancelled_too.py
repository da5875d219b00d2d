"""Where somebody else has cancelled main as well, an interrupt is not taken for the cause."""

import signal

from scenario import *


def take_interrupts():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run(main):
    try:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return result_of(runner.run(main))
    except KeyboardInterrupt:
        return "EINTR"
    except asyncio.CancelledError:
        return "ECANCELED"


async def canceller(task):
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    signal.raise_signal(signal.SIGINT)


async def main():
    asyncio.create_task(canceller(asyncio.current_task()))
    await tell("main", asyncio.sleep(10))


def scenario():
    take_interrupts()
    trace("run: %s", run(main()))
