"""A getter that gave up after two seconds is forgotten: the next item is for the one
behind it.
"""

from scenario import *

q = asyncio.Queue(5)


async def get_within_two_seconds():
    async with asyncio.timeout(2):
        return await q.get()


async def patient():
    item = await q.get()
    trace("the other has %d", item)


async def scenario():
    asyncio.create_task(patient())
    trace("get: %s", await outcome(get_within_two_seconds()))
    await q.put(1)
    await q.put(2)
    await turns(1)
    trace("get: %s", await outcome(get_within_two_seconds()))
    trace("get: %s", await outcome(get_within_two_seconds()))
