"""In a task the current one is itself; in a callback and outside the loop there is
none."""

from scenario import *


def name_of_current():
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return "none"
    return task.get_name() if task else "none"


async def body():
    trace("in a task: %s", name_of_current())
    asyncio.get_running_loop().call_soon(
        lambda: trace("in a callback: %s", name_of_current()))  # fmt: skip
    await asyncio.sleep(0)
    trace("in a task: %s", name_of_current())
    return 3


def scenario():
    loop = VirtualLoop()
    trace("outside: %s", name_of_current())
    task = loop.create_task(body(), name="worker")
    trace("outside: %s", name_of_current())
    trace("result: %d", loop.run_until_complete(task))
    trace("outside: %s", name_of_current())
    loop.close()
