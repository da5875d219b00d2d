"""Where the first in line is cancelled in the turn in which the lock is released, the
lock goes to the second.
"""

from scenario import *

lock = asyncio.Lock()


async def holder(name, until):
    try:
        await lock.acquire()
        trace("%s has it", name)
        if until is not None:
            await until
        lock.release()
        trace("%s gave it back", name)
    except asyncio.CancelledError:
        trace("%s was cancelled", name)
        raise


async def scenario():
    until = new_future()
    a = asyncio.create_task(holder("a", until))
    await turns(1)
    b = asyncio.create_task(holder("b", None))
    await turns(1)
    c = asyncio.create_task(holder("c", None))
    await turns(1)
    until.set_result(None)
    b.cancel()
    await turns(1)
    trace("locked %d; a %s, b %s", lock.locked(), state(a), state(b))
    trace("c: %s", await outcome(c))
