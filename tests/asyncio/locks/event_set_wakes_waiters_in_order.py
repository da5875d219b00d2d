"""Who waits for an event goes on in the turn after it was set, first come, first served;
who comes after that does not wait.
"""

from scenario import *

event = asyncio.Event()


async def waiter(name):
    trace("%s: set %d", name, event.is_set())
    await event.wait()
    trace("%s goes on", name)


async def scenario():
    asyncio.create_task(waiter("a"))
    asyncio.create_task(waiter("b"))
    await turns(1)
    asyncio.create_task(waiter("c"))
    event.set()
    trace("set")
    await turns(1)
    trace("end")
