"""Two conditions on one lock: who holds the lock holds both, and a notification reaches
the waiters of its own condition only.
"""

from scenario import *

lock = asyncio.Lock()
full = asyncio.Condition(lock)
empty = asyncio.Condition(lock)


async def waiter(name, condition):
    async with condition:
        trace("%s: lock %d, full %d, empty %d", name, lock.locked(), full.locked(), empty.locked())
        await condition.wait()
        trace("%s goes on", name)


async def scenario():
    f = asyncio.create_task(waiter("f", full))
    e = asyncio.create_task(waiter("e", empty))
    await turns(1)
    trace("lock %d, full %d, empty %d", lock.locked(), full.locked(), empty.locked())
    async with lock:
        trace("lock %d, full %d, empty %d", lock.locked(), full.locked(), empty.locked())
        empty.notify_all()
    await turns(2)
    trace("f %s, e %s", state(f), state(e))
    async with empty:
        full.notify_all()
    trace("f: %s", await outcome(f))
