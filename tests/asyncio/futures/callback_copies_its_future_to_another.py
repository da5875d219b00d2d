"""A result, a failure and a cancellation go from one future to the next by a callback."""

from scenario import *


def chain(source, target):
    def copy(future):
        if future.cancelled():
            target.cancel()
        elif future.exception():
            target.set_exception(future.exception())
        else:
            target.set_result(future.result())
        trace("copied: %s", state(target))

    source.add_done_callback(copy)


async def scenario():
    for complete in (lambda f: f.set_result(10), lambda f: f.set_exception(Failure("EIO")),
                     lambda f: f.cancel()):  # fmt: skip
        source, target = new_future(), new_future()
        chain(source, target)
        complete(source)
        trace("source %s, target %s", state(source), state(target))
        trace("target: %s", await outcome(target))
