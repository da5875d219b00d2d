"""Waiting for a condition whose lock nobody holds is an error, at once; with the lock it
is none.
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
    asyncio.create_task(ticker(2))
    trace("%s", await outcome(waiter("we")))
    await changed.acquire()
    task = asyncio.create_task(waiter("the task"))
    await turns(1)
    trace("%s", await outcome(waiter("we")))
    await changed.acquire()
    changed.notify()
    changed.release()
    trace("%s", await outcome(task))
