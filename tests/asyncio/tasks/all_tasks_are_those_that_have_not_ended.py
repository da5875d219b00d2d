"""The list of all tasks has those that wait or have yet to begin, and none that has
ended."""

from scenario import *


def look():
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    trace("tasks: %s", " ".join(sorted(task.get_name() for task in tasks)))


async def scenario():
    future = new_future()
    for i in range(1, 4):
        asyncio.create_task(asyncio.sleep(i), name="sleeper-%d" % i)
    look()

    async def body():
        await future

    waiter = asyncio.create_task(body(), name="waiter")
    await asyncio.sleep(2)
    look()
    future.set_result(0)
    look()
    await turns(1)
    look()
    await asyncio.sleep(1)
    look()
    trace("waiter: %s", state(waiter))
