"""wait(): its result, when it returns, and how it is cancelled."""

from scenario import *


async def inner(future):
    return await trace_outcome("inner", future)


async def outer(tasks):
    await trace_outcome("outer", asyncio.wait(tasks))


@scenario
async def cancelled_wait_leaves_its_tasks_running():
    """If a task is cancelled in wait(), wait() returns at once, and the awaited tasks continue."""
    future = new_future()
    tasks = [asyncio.create_task(inner(future)), asyncio.create_task(asyncio.sleep(3))]
    task = asyncio.create_task(outer(tasks))
    await asyncio.sleep(1)
    task.cancel()
    trace("outer task: %s", await outcome(task))
    trace("tasks: %s %s", *map(state, tasks))
    future.set_result(1)
    await asyncio.wait(tasks)
    trace("tasks: %s %s", *map(state, tasks))


async def waiter(name, tasks, mode):
    done, _ = await asyncio.wait(tasks, return_when=mode)
    trace("%s: %d done", name, len(done))


@scenario
async def wait_counts_cancelled_tasks_as_done():
    """wait() counts a cancelled task as done: this ends a FIRST_COMPLETED wait, but not a FIRST_EXCEPTION wait."""
    tasks = [asyncio.create_task(asyncio.sleep(delay)) for delay in (3, 4)]
    modes = [("first", asyncio.FIRST_COMPLETED), ("failure", asyncio.FIRST_EXCEPTION),
             ("all", asyncio.ALL_COMPLETED)]  # fmt: skip
    waiters = [asyncio.create_task(waiter(name, tasks, mode)) for name, mode in modes]
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(tasks[1].cancel()))
    await asyncio.wait(waiters)
    trace("tasks: %s %s", *map(state, tasks))


@scenario
async def wait_counts_what_ended_before_it_woke():
    """Tasks that end after the first task, but before wait() continues, also count as done."""
    one = asyncio.create_task(turns(1))
    two = asyncio.create_task(turns(2))
    four = asyncio.create_task(turns(4))
    ticks = asyncio.create_task(ticker(5))
    done, _ = await asyncio.wait([four, two, one], return_when=asyncio.FIRST_COMPLETED)
    trace("done %d: %s %s %s", len(done), state(one), state(two), state(four))
    await ticks


@scenario
async def wait_deadline_meets_an_end():
    """If a task ends at the deadline of wait(), the order within the turn decides whether it counts as done."""
    early = asyncio.create_task(asyncio.sleep(2))
    slow = asyncio.create_task(asyncio.sleep(4))
    await turns(1)
    done, _ = await asyncio.wait([early, slow], timeout=2)
    trace("done %d: %s %s", len(done), state(early), state(slow))
    early = asyncio.create_task(asyncio.sleep(2))
    done, _ = await asyncio.wait([early, slow], timeout=2)
    trace("done %d: %s %s", len(done), state(early), state(slow))
    await asyncio.wait([early, slow])


async def wait_is_cancelled_body(future):
    await trace_outcome("wait", asyncio.wait([future]))


@scenario
async def wait_is_cancelled_as_its_task_ends():
    """A waiter can still be cancelled after the last task has ended, as long as wait() has not returned."""
    for delay in 0, 1, 2:
        future = new_future()
        task = asyncio.create_task(wait_is_cancelled_body(future))
        await turns(1)
        future.set_result(1)
        await turns(delay)
        trace("after %d: task %s", delay, state(task))
        trace("cancel: %s", result_of(task.cancel()))
        trace("awaited: %s, future %s", await outcome(task), state(future))


@scenario
async def wait_looks_at_a_failure_only_where_that_decides():
    """wait() retrieves a failure only with FIRST_EXCEPTION, and only while other futures are pending. Any other failure
    is reported as never retrieved."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    modes = [("all", asyncio.ALL_COMPLETED), ("first", asyncio.FIRST_COMPLETED),
             ("failure", asyncio.FIRST_EXCEPTION)]  # fmt: skip
    for name, mode in modes:
        for n in 1, 2:
            futures = [new_future() for _ in range(n)]
            futures[0].set_exception(Failure("EIO"))
            done, _ = await asyncio.wait(futures, return_when=mode, timeout=1)
            trace("%s of %d: %d done", name, n, len(done))
            futures = done = _ = None


async def wait_of_all_outlasts_failer():
    await asyncio.sleep(1)
    trace("fails")
    raise Failure("EIO")


@scenario
async def wait_of_all_outlasts_a_failure():
    """With ALL_COMPLETED, wait() neither returns early because of a failure nor fails itself."""
    tasks = [asyncio.create_task(wait_of_all_outlasts_failer()),
             asyncio.create_task(asyncio.sleep(2))]  # fmt: skip
    for _ in range(2):
        done, pending = await asyncio.wait(tasks)
        trace("done %d, pending %d: %s %s", len(done), len(pending), *map(state, tasks))


async def try_wait(futures, **options):
    try:
        await asyncio.wait(futures, **options)
    except ValueError:
        return "EINVAL"
    return "0"


@scenario
async def wait_of_nothing_is_refused():
    """wait() requires at least one future, and one of its three modes."""
    future = new_future()
    trace("nothing: %s", await try_wait([]))
    trace("nothing, until 1: %s", await try_wait([], timeout=1))
    trace("no such mode: %s", await try_wait([future], return_when=-1))
    trace("until 1: %s", await try_wait([future], timeout=1))
    trace("the future: %s", state(future))


@scenario
async def wait_returns_when_all_are_done():
    """wait() returns when the last of its tasks has ended. If all tasks are already done, wait() takes turns of the
    loop, but no time."""
    tasks = [asyncio.create_task(asyncio.sleep(delay)) for delay in (2, 3)]
    for _ in range(2):
        ticks = asyncio.create_task(ticker(3))
        done, pending = await asyncio.wait(tasks)
        trace("done %d, pending %d", len(done), len(pending))
        await ticks


async def wait_returns_with_a_failure_body():
    trace("fails")
    raise Failure("EIO")


@scenario
async def wait_returns_with_a_failure_that_was_there():
    """With FIRST_EXCEPTION, wait() returns at once if one of its tasks has already failed."""
    slow = asyncio.create_task(asyncio.sleep(10))
    bad = asyncio.create_task(wait_returns_with_a_failure_body())
    await turns(2)
    ticks = asyncio.create_task(ticker(3))
    done, _ = await asyncio.wait([slow, bad], return_when=asyncio.FIRST_EXCEPTION)
    trace("done %d: slow %s, bad %s", len(done), state(slow), state(bad))
    await asyncio.wait([slow, bad, ticks])
    trace("slow %s", state(slow))


@scenario
async def wait_returns_with_the_first():
    """With FIRST_COMPLETED, wait() returns when one task is done. The other task continues and is not cancelled."""
    slow = asyncio.create_task(asyncio.sleep(10))
    quick = asyncio.create_task(asyncio.sleep(1))
    done, _ = await asyncio.wait([slow, quick], return_when=asyncio.FIRST_COMPLETED)
    trace("done %d: slow %s, quick %s", len(done), state(slow), state(quick))
    done, _ = await asyncio.wait([slow, quick])
    trace("done %d: slow %s, quick %s", len(done), state(slow), state(quick))


async def wait_returns_with_the_first_failure_failer():
    await asyncio.sleep(3)
    raise Failure("EIO")


@scenario
async def wait_returns_with_the_first_failure():
    """With FIRST_EXCEPTION, wait() ignores results and cancellations, and returns when a task fails."""
    failing = wait_returns_with_the_first_failure_failer()
    tasks = [asyncio.create_task(c) for c in (asyncio.sleep(10), asyncio.sleep(1), failing)]
    future = new_future()
    asyncio.get_running_loop().call_later(2, future.cancel)
    done, _ = await asyncio.wait([*tasks, future], return_when=asyncio.FIRST_EXCEPTION)
    trace("done %d: %s %s %s %s", len(done), *map(state, tasks), state(future))
    await tasks[0]


@scenario
async def wait_stops_at_its_deadline():
    """When its deadline passes, wait() returns without an error and does not cancel any task."""
    tasks = [asyncio.create_task(asyncio.sleep(delay)) for delay in (1, 4, 4)]
    done, pending = await asyncio.wait(tasks, timeout=2)
    trace("done %d, pending %d", len(done), len(pending))
    trace("cancelled: %d", sum(task.cancelled() for task in tasks))
    done, pending = await asyncio.wait(tasks, timeout=5)
    trace("done %d, pending %d", len(done), len(pending))


async def wait_takes_results_body(delay):
    await asyncio.sleep(delay)
    return delay


@scenario
async def wait_takes_results_as_they_come():
    """If wait() with FIRST_COMPLETED is repeated with the remaining tasks, it returns the tasks in the order in
    which they end."""
    pending = [asyncio.create_task(wait_takes_results_body(delay)) for delay in (3, 1, 2, 1)]
    while pending:
        done, _ = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        trace("done: %s", " ".join(str(t.result()) for t in pending if t in done))
        pending = [task for task in pending if task not in done]


async def wait_takes_ten_body(value):
    return value


@scenario
async def wait_takes_ten_tasks():
    """Waiting for ten tasks that return at once takes as many turns as waiting for one."""
    tasks = [asyncio.create_task(wait_takes_ten_body(value)) for value in range(10)]
    ticks = asyncio.create_task(ticker(4))
    done, pending = await asyncio.wait(tasks)
    trace("done %d, pending %d", len(done), len(pending))
    trace("sum %d", sum(task.result() for task in done))
    await ticks


@scenario
async def wait_until_now_lets_turns_pass():
    """If its deadline is the current time, wait() does not wait for the tasks, and returns in the turn after its timer
    has fired."""
    tasks = [asyncio.create_task(turns(1)), asyncio.create_task(asyncio.sleep(1))]
    for timeout in 0, -1:
        ticks = asyncio.create_task(ticker(4))
        done, pending = await asyncio.wait(tasks, timeout=timeout)
        trace("done %d, pending %d", len(done), len(pending))
        await ticks
    await asyncio.wait(tasks)
