"""Two tasks that calculate at once, each with its own precision, do not disturb each other."""

from scenario import *


digits = contextvars.ContextVar("digits", default=2)


def third_of(n):
    scale = 10 ** digits.get()
    return n * scale // 3


async def fractions(seconds, precision):
    token = digits.set(precision)
    before = third_of(1)
    await asyncio.sleep(seconds)
    trace("%d digits: %d, then %d", precision, before, third_of(2))
    digits.reset(token)
    trace("and without: %d", third_of(1))


async def scenario():
    await asyncio.gather(fractions(1, 3), fractions(2, 6))
    trace("main: %d", third_of(1))
