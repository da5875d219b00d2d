"""gather fails as soon as one of its futures has; what becomes of the others is
theirs."""

from scenario import *


async def body(futures):
    await tell("gather", asyncio.gather(*futures))


async def scenario():
    futures = [new_future() for _ in range(5)]
    task = asyncio.create_task(body(futures))
    await turns(1)
    futures[0].set_result(1)
    futures[1].set_exception(Failure("EIO"))
    await turns(3)
    trace("task: %s", state(task))
    trace("futures: %s", " ".join(map(state, futures)))
    futures[2].set_result(3)
    futures[3].cancel()
    futures[4].set_exception(Failure("ENOENT"))
    await turns(3)
    trace("task: %s", state(task))
    trace("futures: %s", " ".join(map(state, futures)))
