"""An interrupt cancels a main that is never suspended but yields."""

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


async def main():
    asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
    try:
        while True:
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        trace("main is told")
        raise


def scenario():
    take_interrupts()
    trace("run: %s", run(main()))
