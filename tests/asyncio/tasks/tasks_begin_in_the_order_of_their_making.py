"""New tasks and callbacks stand in one line; a task's own children stand behind them."""

from scenario import *


async def body(name, children):
    trace("%s begins", name)
    tasks = [asyncio.create_task(body(name + str(i), 0)) for i in range(children)]
    await asyncio.sleep(0)
    trace("%s goes on", name)
    for task in tasks:
        await task


async def scenario():
    loop = asyncio.get_running_loop()
    first = asyncio.create_task(body("a", 2))
    loop.call_soon(trace, "a callback")
    second = asyncio.create_task(body("b", 1))
    trace("made")
    await first
    await second
