"""A task calls its callbacks in the turn after its end, be that a result, failure or cancel."""

from scenario import *


async def body(i):
    await asyncio.sleep(2)
    trace("body %d ends", i)
    if i == 1:
        raise Failure("EIO")
    return i


async def scenario():
    tasks = [asyncio.create_task(body(i)) for i in range(3)]
    for i, task in enumerate(tasks):
        task.add_done_callback(lambda t, i=i: trace("callback %d: %s", i, state(t)))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(tasks[2].cancel()))
    done, _ = await asyncio.wait(tasks)
    trace("done: %d", len(done))
