"""Debug mode is the loop's: it is off at first, seen by tasks and callbacks alike once it
is on, and changes neither the order nor the times of what runs."""

from scenario import *


async def worker(name):
    loop = asyncio.get_running_loop()
    for _ in range(3):
        trace("%s: debug %d", name, loop.get_debug())
        await asyncio.sleep(0)


async def scenario():
    loop = asyncio.get_running_loop()
    for mode in False, True, False:
        trace("was %d", loop.get_debug())
        loop.set_debug(mode)
        trace("is %d", loop.get_debug())
        loop.call_soon(lambda: trace("callback: debug %d", loop.get_debug()))
        await asyncio.gather(worker("one"), worker("two"))
        await asyncio.sleep(1)
