"""An inner deadline that passes first is a timeout there; the work goes on outside until
the outer one passes.
"""

from scenario import *


async def inner():
    async with telling_timeout("inner", 1):
        await tell("first sleep", asyncio.sleep(10))


async def body():
    async with telling_timeout("outer", 3):
        trace("caught %s", await outcome(inner()))
        await tell("second sleep", asyncio.sleep(10))


async def scenario():
    trace("body: %s", await outcome(body()))
