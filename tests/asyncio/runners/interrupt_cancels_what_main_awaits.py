"""An interrupt cancels main, and the future that main awaits."""

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


futures = []


async def main():
    futures.append(new_future())
    asyncio.get_running_loop().call_later(2, signal.raise_signal, signal.SIGINT)
    try:
        await futures[0]
    except asyncio.CancelledError:
        trace("main is told, future: %s", state(futures[0]))
        raise


def scenario():
    take_interrupts()
    trace("run: %s", run(main()))
