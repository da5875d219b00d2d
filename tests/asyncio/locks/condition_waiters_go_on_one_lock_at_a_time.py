"""A waiter that was notified goes on when it has the lock; several of them one after the
other, in the order in which they came.
"""

from scenario import *

changed = asyncio.Condition()


async def waiter(name):
    await changed.acquire()
    await changed.wait()
    trace("%s goes on: locked %d", name, changed.locked())


async def release():
    changed.release()
    await turns(1)
    trace("locked %d", changed.locked())


async def scenario():
    for name in "abc":
        asyncio.create_task(waiter(name))
    await turns(1)
    trace("they wait: locked %d", changed.locked())
    await changed.acquire()
    changed.notify()
    await turns(1)
    trace("one notified: locked %d", changed.locked())
    await release()
    changed.notify(2)
    await turns(1)
    trace("two notified: locked %d", changed.locked())
    await release()
    await release()
    await release()
