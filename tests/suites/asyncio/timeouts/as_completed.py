"""as_completed(): returns futures in the order in which they end."""

from scenario import *


async def work(name, seconds, result):
    await trace_outcome(name, asyncio.sleep(seconds))
    return result


@scenario
async def as_completed_forgets_a_deadline_that_is_not_reached():
    """Once the last future has been returned, the deadline no longer applies.

    Since: 3.13
    """
    tasks = [asyncio.create_task(work("a", 1, 1))]
    async for task in asyncio.as_completed(tasks, timeout=5):
        trace("a: %s", state(task))
    trace("over")
    await trace_outcome("sleep", asyncio.sleep(10))


@scenario
async def as_completed_goes_on_where_it_was_left():
    """An interrupted iteration may be continued. Futures that ended in the meantime are returned without a turn.

    Since: 3.13
    """
    tasks = [asyncio.create_task(work(*args)) for args in (("a", 3, 1), ("b", 1, 2), ("c", 2, 3))]
    each = asyncio.as_completed(tasks)
    async for task in each:
        trace("first: %s", state(task))
        break
    await trace_outcome("sleep", asyncio.sleep(5))
    asyncio.create_task(ticker(2))
    async for task in each:
        trace("next: %s", state(task))
    trace("over")


@scenario
async def as_completed_returns_tasks_as_they_end():
    """Each task is returned when it ends, even if it failed.

    Since: 3.13
    """
    tasks = [
        asyncio.create_task(work(*args))
        for args in (("a", 3, 1), ("b", 1, 2), ("c", 1, 3), ("d", 0, 4))
    ]
    async for task in asyncio.as_completed(tasks):
        trace("%s: %s", "abcd"[tasks.index(task)], state(task))
    trace("over")


@scenario
async def as_completed_says_when_the_deadline_passed():
    """Tasks that end before the deadline are returned. For each of the others, the iteration returns a timeout, and the
    task continues to run.

    Since: 3.13
    """
    tasks = [asyncio.create_task(work(*args)) for args in (("a", 1, 1), ("b", 5, 2), ("c", 6, 3))]
    each = asyncio.as_completed(tasks, timeout=3)
    while True:
        try:
            task = await anext(each)
            trace("%s: %s", "abc"[tasks.index(task)], state(task))
        except TimeoutError:
            trace("timeout")
        except StopAsyncIteration:
            break
    trace("over")
    trace("b: %s", await outcome(tasks[1]))
    trace("c: %s", await outcome(tasks[2]))


async def asker(each, name):
    try:
        trace("%s gets %s", name, state(await anext(each)))
    except StopAsyncIteration:
        trace("%s: over", name)


@scenario
async def as_completed_serves_tasks_in_the_order_in_which_they_ask():
    """If several tasks request the next future, the requests are served in order. A request after the last future
    returns the end of the iteration.

    Since: 3.13
    """
    tasks = [asyncio.create_task(work(*args)) for args in (("a", 2, 1), ("b", 1, 2))]
    each = asyncio.as_completed(tasks)
    await asyncio.gather(*[asker(each, name) for name in ("first", "second", "third")])


@scenario
async def as_completed_takes_two_turns_to_know():
    """A future is available two turns after it is set, even if it was set before the iteration. Getting an available
    future takes no turn.

    Since: 3.13
    """
    early, late = new_future(), new_future()
    early.set_result(1)
    each = asyncio.as_completed([early, late])
    asyncio.create_task(ticker(6))
    trace("early: %s", state(await anext(each)))
    asyncio.get_running_loop().call_soon(late.set_result, 2)
    trace("late: %s", state(await anext(each)))
