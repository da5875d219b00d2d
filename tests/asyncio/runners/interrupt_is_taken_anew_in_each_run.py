"""Each run of a runner may be interrupted; one that is not ends as ever."""

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


async def main(interrupted):
    if interrupted:
        asyncio.get_running_loop().call_later(1, signal.raise_signal, signal.SIGINT)
    await tell("main", asyncio.sleep(2))
    return 3


def attempt_run(runner, main):
    try:
        trace("run: %d", runner.run(main))
    except KeyboardInterrupt:
        trace("run: EINTR")


def scenario():
    take_interrupts()
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        attempt_run(runner, main(True))
        attempt_run(runner, main(True))
        attempt_run(runner, main(False))
