"""A waiter that was notified goes on when it has the lock; several of them one after the
other, in the order in which they came.
"""

from scenario import *

changed = asyncio.Condition()


async def waiter(name):
    async with changed:
        await changed.wait()
        trace("%s goes on: locked %d", name, changed.locked())
        await asyncio.sleep(2)
    trace("%s is done: locked %d", name, changed.locked())


async def notify(n):
    await changed.acquire()
    changed.notify(n)
    await asyncio.sleep(1)
    trace("%d notified: locked %d", n, changed.locked())
    changed.release()
    await asyncio.sleep(7)


async def scenario():
    for name in "abc":
        asyncio.create_task(waiter(name))
    await turns(1)
    trace("they wait: locked %d", changed.locked())
    await notify(1)
    await notify(2)
