"""A sleep of zero lets one turn pass: what was called soon before it has run after it."""

from scenario import *


async def scenario():
    loop = asyncio.get_running_loop()
    result = 0

    def add(number):
        nonlocal result
        result += number
        trace("now %d", result)
        if number == 1:
            loop.call_soon(add, 100)

    loop.call_soon(add, 1)
    trace("before: %d", result)
    await asyncio.sleep(0)
    trace("after one: %d", result)
    await asyncio.sleep(0)
    trace("after two: %d", result)
