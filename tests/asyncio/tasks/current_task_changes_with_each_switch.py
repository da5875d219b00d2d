"""Two tasks wake each other by futures; each is the current one whenever it runs."""

from scenario import *


async def one(mine, other):
    trace("one: %s", asyncio.current_task().get_name())
    await mine
    trace("one: %s", asyncio.current_task().get_name())
    other.set_result(True)


async def two(mine, other):
    trace("two: %s", asyncio.current_task().get_name())
    other.set_result(True)
    await mine
    trace("two: %s", asyncio.current_task().get_name())


async def scenario():
    first, second = new_future(), new_future()
    tasks = [asyncio.create_task(one(first, second), name="a"),
             asyncio.create_task(two(second, first), name="b")]  # fmt: skip
    done, _ = await asyncio.wait(tasks)
    trace("done: %d", len(done))
