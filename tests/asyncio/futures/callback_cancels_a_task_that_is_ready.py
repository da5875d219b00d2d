"""Between two awaiters of a future stands a callback that cancels both: the first has run."""

from scenario import *


async def waiter(i, future):
    try:
        await tell("waiter %d" % i, future)
    finally:
        trace("counted: %d", asyncio.current_task().cancelling())


async def scenario():
    future = new_future()
    tasks = [asyncio.create_task(waiter(0, future))]
    await turns(1)
    future.add_done_callback(
        lambda f: trace("cancel: %s", " ".join(result_of(t.cancel()) for t in tasks)))  # fmt: skip
    tasks.append(asyncio.create_task(waiter(1, future)))
    await turns(1)
    future.set_result(0)
    await asyncio.wait(tasks)
    trace("tasks: %s %s", *map(state, tasks))
