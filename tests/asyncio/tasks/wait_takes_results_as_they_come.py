"""wait() for the first, again and again with what is left, yields the tasks as they
end."""

from scenario import *


async def body(delay):
    await asyncio.sleep(delay)
    return delay


async def scenario():
    pending = [asyncio.create_task(body(delay)) for delay in (3, 1, 2, 1)]
    while pending:
        done, _ = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        trace("done: %s", " ".join(str(t.result()) for t in pending if t in done))
        pending = [task for task in pending if task not in done]
