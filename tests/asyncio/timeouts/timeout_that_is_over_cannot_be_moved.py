"""The deadline of a block that is being cancelled, has expired, or was left cannot be
moved.
"""

from scenario import *

scope = None


def move(when):
    try:
        scope.reschedule(asyncio.get_running_loop().time() + 2)
        trace("%s: moved", when)
    except RuntimeError:
        trace("%s: refused", when)


async def body():
    global scope
    async with telling_timeout("timeout", 1) as scope:
        move("inside")
        try:
            await tell("sleep", asyncio.sleep(10))
        finally:
            move("expiring")


async def scenario():
    global scope
    trace("body: %s", await outcome(body()))
    move("expired")
    async with telling_timeout("timeout", 1) as scope:
        pass
    move("left")
