"""Most of two hundred timers are cancelled; those that are left are called at their times."""

from scenario import *


def scenario():
    loop = VirtualLoop()
    timers = [loop.call_later(1 + i * 37 % 200, trace, "timer %d", i) for i in range(200)]
    for i, timer in enumerate(timers):
        if i % 40 != 7:
            timer.cancel()
    loop.call_later(300, loop.stop)
    trace("cancelled: %d", sum(timer.cancelled() for timer in timers))
    loop.run_forever()
    trace("stopped at %d", loop.time())
    loop.close()
