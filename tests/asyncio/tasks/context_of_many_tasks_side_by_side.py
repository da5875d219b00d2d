"""Ten tasks set the same variable in turn; each sees what it has set itself."""

from scenario import *


number = contextvars.ContextVar("number", default=-1)


async def body(i):
    wrong = 0
    for round in range(3):
        number.set(10 * i + round)
        await asyncio.sleep(1)
        wrong += number.get() != 10 * i + round
    trace("task %d: %d at the end, %d wrong", i, number.get(), wrong)


async def scenario():
    number.set(1000)
    await asyncio.gather(*[body(i) for i in range(10)])
    trace("main: %d", number.get())
