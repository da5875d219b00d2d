"""The cleanup of a block that was cut off has a deadline of its own, and is cut off, too;
the block has timed out all the same.

Since: 3.12 (and late releases of 3.11; Debian 12 has an early one)
"""

from scenario import *


async def cleanup():
    async with telling_timeout("inner", 1):
        await tell("cleanup", asyncio.sleep(10))


async def body():
    async with telling_timeout("outer", 1):
        try:
            await tell("sleep", asyncio.sleep(10))
        finally:
            trace("caught %s", await outcome(cleanup()))


async def scenario():
    trace("body: %s", await outcome(body()))
    await tell("sleep", asyncio.sleep(1))
