"""Two tasks gather the same child: cancelling one cancels it, and the other takes
that."""

from scenario import *


async def child():
    await tell("child", asyncio.sleep(10))


async def body(name, tasks):
    try:
        await tell(name, asyncio.gather(*tasks))
    finally:
        trace("%s counted %d", name, asyncio.current_task().cancelling())


async def scenario():
    shared = asyncio.create_task(child())
    future = new_future()
    first = asyncio.create_task(body("first", [shared]))
    second = asyncio.create_task(body("second", [future, shared]))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(first.cancel()))
    await asyncio.wait([first, second])
    trace("first %s, second %s, future %s", state(first), state(second), state(future))
