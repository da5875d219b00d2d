"""Notifying one, then all that are left and more, wakes the waiters in the order in which
they came, each once.
"""

from scenario import *

changed = asyncio.Condition()


async def waiter(name):
    async with changed:
        await changed.wait()
        trace("%s goes on", name)


async def notify(*counts):
    async with changed:
        for count in counts:
            changed.notify(count)
    await turns(1)
    trace("that was it")


async def scenario():
    for name in "abcd":
        asyncio.create_task(waiter(name))
    await turns(1)
    await notify(0)
    await notify(1)
    await notify(1, 2048)
    await notify(1)
