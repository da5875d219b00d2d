"""A task cancelled behind a shield may await the shielded work all the same, and then
leave."""

from scenario import *


async def work():
    await asyncio.sleep(3)
    trace("work is done")
    return 5


async def body(task):
    try:
        await tell("shield", asyncio.shield(task))
    except asyncio.CancelledError:
        await tell("await", task)
        raise


async def scenario():
    inner = asyncio.create_task(work())
    task = asyncio.create_task(body(inner))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    await asyncio.sleep(1)
    trace("task %s", state(task))
    trace("awaited: %s", await outcome(task))
