"""Of four tasks that await each other all are asked at once, and end one turn after the
other."""

from scenario import *


async def chain(i, inner):
    try:
        await inner
    finally:
        trace("link %d ends", i)


async def scenario():
    future = new_future()
    tasks = []
    for i in range(4):
        tasks.append(asyncio.create_task(chain(i, tasks[-1] if tasks else future)))
    await turns(2)
    ticks = asyncio.create_task(ticker(5))
    trace("cancel: %s", result_of(tasks[3].cancel()))
    trace("counted: %s", " ".join(str(task.cancelling()) for task in tasks))
    trace("awaited: %s", await outcome(tasks[3]))
    trace("states: %s", " ".join(map(state, tasks)))
    await ticks
