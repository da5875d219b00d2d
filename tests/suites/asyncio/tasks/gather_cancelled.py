"""Cancelling the futures of a gather, and the gathering task."""

from scenario import *


async def inner(i, future):
    await trace_outcome("inner %d" % i, future)


async def cancel_reaches_outer(tasks):
    await trace_outcome("outer", asyncio.gather(*tasks))


@scenario
async def cancel_reaches_every_task_of_a_gather():
    """Cancelling a gathering task cancels all gathered tasks, in order, and the future that they
    await."""
    future = new_future()
    tasks = [asyncio.create_task(inner(i, future)) for i in range(2)]
    task = asyncio.create_task(cancel_reaches_outer(tasks))
    ticks = asyncio.create_task(ticker(5))
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("future %s, tasks %s %s", state(future), *map(state, tasks))
    trace("counted: %d %d %d", task.cancelling(), *(each.cancelling() for each in tasks))
    trace("outer task: %s", await outcome(task))
    trace("tasks %s %s", *map(state, tasks))
    await ticks


async def cancelled_gather_of_all_is_cancelled_body():
    while True:
        sleeper = asyncio.create_task(asyncio.sleep(2))
        await trace_outcome("gather", asyncio.gather(sleeper, return_exceptions=True))


@scenario
async def cancelled_gather_of_all_is_cancelled():
    """The cancellation of a task that gathers with return_exceptions is not returned among the results, so a task that
    repeats such a gather can be cancelled."""
    task = asyncio.create_task(cancelled_gather_of_all_is_cancelled_body())
    await asyncio.sleep(5)
    task.cancel("enough")
    try:
        await task
    except asyncio.CancelledError as error:
        trace("cancelled: %s", error.args[0])


async def slow(i):
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        trace("child %d cleans up", i)
        await asyncio.sleep(i)
        trace("child %d ends", i)
        raise


async def cancelled_gather_of_all_waits_body(tasks, everything):
    await trace_outcome("gather", asyncio.gather(*tasks, return_exceptions=everything))


@scenario
async def cancelled_gather_of_all_waits_for_the_cleanup():
    """A cancelled gather returns when the first child has ended. With return_exceptions, a cancelled gather returns
    when the last child has ended."""
    for everything in False, True:
        tasks = [asyncio.create_task(slow(i)) for i in (2, 1)]
        task = asyncio.create_task(cancelled_gather_of_all_waits_body(tasks, everything))
        await turns(1)
        task.cancel()
        trace("awaited: %s", await outcome(task))
        await asyncio.sleep(3)


async def gather_cancels_child():
    trace("child: %s", await outcome(asyncio.sleep(10)))
    trace("counted %d", asyncio.current_task().cancelling())
    await trace_outcome("child again", asyncio.sleep(1))
    return 3


async def gather_cancels_body(task):
    await trace_outcome("gather", asyncio.gather(task, task))


@scenario
async def gather_cancels_a_repeated_task_twice():
    """If a task occurs twice in a cancelled gather, it gets two requests to cancel, but only one cancellation."""
    child_task = asyncio.create_task(gather_cancels_child())
    task = asyncio.create_task(gather_cancels_body(child_task))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("awaited: %s", await outcome(task))
    trace("child: %s", state(child_task))


async def stubborn():
    trace("stubborn: %s", await outcome(asyncio.sleep(10)))
    raise Failure("EIO")


async def body(tasks):
    await trace_outcome("gather", asyncio.gather(*tasks))


@scenario
async def gather_fails_with_a_child_that_fails_when_cancelled():
    """If a gathering task is cancelled and one of its children then fails, the task gets that failure."""
    tasks = [asyncio.create_task(stubborn()), asyncio.create_task(asyncio.sleep(10))]
    task = asyncio.create_task(body(tasks))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("awaited: %s", await outcome(task))
    trace("counted: %d, children %s %s", task.cancelling(), *map(state, tasks))


async def gather_is_cancelled_as_its_failure_failing(future):
    await future
    raise Failure("EIO")


@scenario
async def gather_is_cancelled_as_its_failure_is_under_way():
    """If a child's failure has ended a gather, but the gathering task is cancelled before it runs, the task gets the
    cancellation, not the failure."""
    for delay in 1, 2, 3:
        future, other = new_future(), new_future()
        child = asyncio.create_task(gather_is_cancelled_as_its_failure_failing(future))
        task = asyncio.create_task(body([child, other]))
        await turns(1)
        future.set_result(0)
        await turns(delay)
        trace("after %d: child %s, task %s", delay, state(child), state(task))
        trace("cancel: %s", result_of(task.cancel()))
        trace("awaited: %s, other %s", await outcome(task), state(other))


async def deaf(i):
    trace("deaf %d: %s", i, await outcome(asyncio.sleep(10)))
    await asyncio.sleep(i)
    return i


async def gather_is_cancelled_though_its_children_body(tasks, everything):
    try:
        await trace_outcome("gather", asyncio.gather(*tasks, return_exceptions=everything))
    finally:
        trace("children: %s %s", *map(state, tasks))


@scenario
async def gather_is_cancelled_though_its_children_refuse():
    """A gather that is cancelled returns the cancellation, even if all children ignore it and return results."""
    for everything in False, True:
        tasks = [asyncio.create_task(deaf(i)) for i in (1, 2)]
        task = asyncio.create_task(gather_is_cancelled_though_its_children_body(tasks, everything))
        await asyncio.sleep(1)
        trace("cancel: %s", result_of(task.cancel()))
        trace("awaited: %s", await outcome(task))


async def gather_of_all_collects_body(futures):
    results = await asyncio.gather(*futures, return_exceptions=True)
    trace("gathered %s", " ".join(
        name_of(r) if isinstance(r, BaseException) else str(r) for r in results))  # fmt: skip


@scenario
async def gather_of_all_collects_cancellations():
    """With return_exceptions, gather returns cancelled futures among its results, and is not cancelled itself."""
    futures = [new_future() for _ in range(6)]
    task = asyncio.create_task(gather_of_all_collects_body(futures))
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


async def gather_takes_body(futures):
    try:
        await trace_outcome("gather", asyncio.gather(*futures))
    except asyncio.CancelledError:
        trace("counted: %d", asyncio.current_task().cancelling())
    await trace_outcome("goes on", asyncio.sleep(1))


@scenario
async def gather_takes_a_cancelled_future_for_a_failure():
    """A cancelled future ends its gather; the other futures are not cancelled."""
    futures = [new_future() for _ in range(4)]
    task = asyncio.create_task(gather_takes_body(futures))
    await turns(1)
    futures[0].set_result(1)
    futures[1].cancel()
    await turns(3)
    trace("futures: %s", " ".join(map(state, futures)))
    futures[2].set_result(3)
    futures[3].set_exception(Failure("EIO"))
    trace("task: %s", await outcome(task))
    trace("futures: %s", " ".join(map(state, futures)))


async def gather_that_failed_failing():
    await asyncio.sleep(1)
    raise Failure("EIO")


async def gather_that_failed_body(tasks):
    trace("gather: %s", await outcome(asyncio.gather(*tasks)))
    await trace_outcome("sleep", asyncio.sleep(5))


@scenario
async def gather_that_failed_cancels_nobody_any_more():
    """If a task is cancelled after its gather has failed, only its present wait is cancelled. The other gathered tasks
    are not cancelled."""
    tasks = [asyncio.create_task(gather_that_failed_failing()),
             asyncio.create_task(asyncio.sleep(4))]  # fmt: skip
    task = asyncio.create_task(gather_that_failed_body(tasks))
    await asyncio.sleep(2)
    trace("cancel: %s", result_of(task.cancel()))
    trace("awaited: %s", await outcome(task))
    trace("sibling: %s, counted %d", state(tasks[1]), tasks[1].cancelling())
    trace("sibling: %s", await outcome(tasks[1]))


async def gatherer(name, parts):
    await trace_outcome(name, asyncio.gather(*parts))


@scenario
async def gathers_within_gathers_are_cancelled_together():
    """Cancelling the outermost of three nested gathers cancels the innermost futures before the call returns."""
    futures = [new_future() for _ in range(4)]
    left = asyncio.create_task(gatherer("left", futures[:2]))
    right = asyncio.create_task(gatherer("right", futures[2:]))
    top = asyncio.create_task(gatherer("top", [left, right]))
    ticks = asyncio.create_task(ticker(6))
    await turns(1)
    trace("cancel: %s", result_of(top.cancel()))
    trace("futures: %s %s %s %s", *map(state, futures))
    trace("top: %s", await outcome(top))
    trace("left %s, right %s", state(left), state(right))
    await ticks


async def task_in_gather_child(future):
    return await future


async def task_in_gather_outer(task):
    await trace_outcome("outer", asyncio.gather(task))


@scenario
async def task_in_gather_is_cancelled_after_its_children_ended():
    """A gathering task can still be cancelled after all children have ended, as long as gather has not returned."""
    future = new_future()
    child_task = asyncio.create_task(task_in_gather_child(future))
    task = asyncio.create_task(task_in_gather_outer(child_task))
    await turns(1)

    def cancel(_):
        trace("child %s, cancel it: %s", state(child_task), result_of(child_task.cancel()))
        trace("cancel: %s", result_of(task.cancel()))

    future.add_done_callback(cancel)
    future.set_result(42)
    trace("outer task: %s", await outcome(task))
    trace("child %s", state(child_task))
