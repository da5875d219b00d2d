"""Two nested deadlines pass at once: inside it is a cancellation, and only the outer block
times out.
"""

from scenario import *


async def body():
    async with telling_timeout("outer", 1):
        async with telling_timeout("inner", 1):
            await tell("sleep", asyncio.sleep(10))


async def scenario():
    trace("body: %s", await outcome(body()))
