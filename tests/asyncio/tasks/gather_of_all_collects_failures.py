"""gather of all waits for every one, and has failures among its results."""

from scenario import *


async def body(futures):
    results = await asyncio.gather(*futures, return_exceptions=True)
    trace("gathered %s", " ".join(
        name_of(r) if isinstance(r, BaseException) else str(r) for r in results))  # fmt: skip


async def scenario():
    a, b, c, d = (new_future() for _ in range(4))
    task = asyncio.create_task(body([a, b, c, d]))
    await asyncio.sleep(1)
    b.set_result(1)
    c.set_exception(Failure("EIO"))
    a.set_result(3)
    await asyncio.sleep(1)
    trace("task: %s", state(task))
    d.set_exception(Failure("ENOENT"))
    trace("awaited: %s", await outcome(task))
