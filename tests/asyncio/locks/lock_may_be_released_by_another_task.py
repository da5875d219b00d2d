"""A lock belongs to nobody: one task takes it, another gives it back."""

from scenario import *

lock = asyncio.Lock()


async def releaser():
    await asyncio.sleep(2)
    lock.release()
    trace("released")


async def scenario():
    await lock.acquire()
    asyncio.create_task(releaser())
    trace("taken")
    await lock.acquire()
    trace("taken again")
