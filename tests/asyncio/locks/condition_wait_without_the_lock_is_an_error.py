"""Waiting for a condition whose lock nobody holds is an error, at once; who waits with
the lock is not disturbed by it.
"""

from scenario import *

changed = asyncio.Condition()


async def waiter(name):
    try:
        await changed.wait()
    except RuntimeError:
        raise Failure("EPERM")
    trace("%s goes on", name)
    changed.release()


async def scenario():
    asyncio.create_task(ticker(6))
    trace("nobody holds it: %s", await outcome(waiter("a")))
    await changed.acquire()
    b = asyncio.create_task(waiter("b"))
    await turns(2)
    c = asyncio.create_task(waiter("c"))
    await turns(2)
    trace("b %s, c %s", state(b), state(c))
    await changed.acquire()
    changed.notify()
    changed.release()
    await turns(2)
    trace("b %s", state(b))
