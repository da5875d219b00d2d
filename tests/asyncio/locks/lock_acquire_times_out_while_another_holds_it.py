"""A task that gives up after two seconds is not in the way of the one behind it when the
lock is released.
"""

from scenario import *

lock = asyncio.Lock()


async def impatient():
    async with asyncio.timeout(2):
        await lock.acquire()


async def patient():
    await lock.acquire()
    trace("the patient one has it")


async def scenario():
    await lock.acquire()
    a = asyncio.create_task(impatient())
    b = asyncio.create_task(patient())
    trace("a: %s", await outcome(a))
    await asyncio.sleep(1)
    lock.release()
    await turns(1)
    trace("b: %s, locked %d", state(b), lock.locked())
