"""All that wait are woken by notify_all, and who comes later is not."""

from scenario import *

changed = asyncio.Condition()


async def waiter(name):
    async with changed:
        await changed.wait()
        trace("%s goes on", name)


async def scenario():
    a = asyncio.create_task(waiter("a"))
    b = asyncio.create_task(waiter("b"))
    await turns(1)
    async with changed:
        changed.notify_all()
        changed.notify_all()
    c = asyncio.create_task(waiter("c"))
    await turns(2)
    trace("a %s, b %s, c %s", state(a), state(b), state(c))
    async with changed:
        changed.notify_all()
    trace("c: %s", await outcome(c))
