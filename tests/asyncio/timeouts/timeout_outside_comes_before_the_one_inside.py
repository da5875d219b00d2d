"""An outer deadline that passes first cancels through the inner block, which has not
expired.
"""

from scenario import *


async def body():
    async with telling_timeout("outer", 1):
        async with telling_timeout("inner", 3):
            await tell("sleep", asyncio.sleep(10))


async def scenario():
    trace("body: %s", await outcome(body()))
    await tell("sleep", asyncio.sleep(5))
