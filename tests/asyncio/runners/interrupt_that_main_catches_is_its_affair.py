"""A main that catches the cancellation of an interrupt returns as it likes, and so does run()."""

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
    asyncio.get_running_loop().call_later(1, signal.raise_signal, signal.SIGINT)
    trace("main: %s", await outcome(asyncio.sleep(10)))
    await asyncio.sleep(2)
    trace("main has cleaned up, requests: %d", asyncio.current_task().cancelling())
    return 7


def scenario():
    take_interrupts()
    trace("run: %s", run(main()))
