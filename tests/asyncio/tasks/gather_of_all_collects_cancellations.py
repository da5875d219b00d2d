"""gather of all has cancelled futures among its results, and is not cancelled itself."""

from scenario import *


async def body(futures):
    results = await asyncio.gather(*futures, return_exceptions=True)
    trace("gathered %s", " ".join(
        name_of(r) if isinstance(r, BaseException) else str(r) for r in results))  # fmt: skip


async def scenario():
    futures = [new_future() for _ in range(6)]
    task = asyncio.create_task(body(futures))
    await turns(1)
    futures[0].set_result(1)
    futures[1].set_exception(Failure("EIO"))
    futures[2].cancel()
    await turns(3)
    trace("task: %s", state(task))
    futures[3].set_result(3)
    futures[4].cancel()
    futures[5].set_exception(Failure("ENOENT"))
    trace("awaited: %s", await outcome(task))
