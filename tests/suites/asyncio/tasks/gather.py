"""gather(): its result, when it returns, and how it handles failures."""

from scenario import *


async def gather_ends_body(futures, everything):
    results = await asyncio.gather(*futures, return_exceptions=everything)
    trace("gathered %s", " ".join(map(str, results)))


@scenario
async def gather_ends_with_the_last_of_its_futures():
    """gather returns two turns after the last task has ended. The results are in the order of the arguments."""
    for everything in False, True:
        a, b, c = new_future(), new_future(), new_future()
        task = asyncio.create_task(gather_ends_body((a, b, c), everything))
        await turns(1)
        b.set_result(1)
        a.set_result(2)
        await turns(3)
        trace("two are set: %s", state(task))
        ticks = asyncio.create_task(ticker(3))
        c.set_result(3)
        trace("all are set: %s", state(task))
        await asyncio.wait([task, ticks])


@scenario
async def gather_fails_at_once_with_what_had_failed():
    """If one of the futures has already failed, gather fails without taking a turn, although the others are pending.

    Since: 3.12
    """
    first, failed, last = (new_future() for _ in range(3))
    failed.set_exception(Failure("EIO"))
    ticks = asyncio.create_task(ticker(1))
    trace("gather: %s", await outcome(asyncio.gather(first, failed, last)))
    trace("futures: %s %s %s", state(first), state(failed), state(last))
    first.set_result(1)
    last.set_exception(Failure("ENOENT"))
    trace("gather: %s", await outcome(asyncio.gather(first, last, failed)))
    await ticks


async def inner(future, error):
    await future
    raise Failure(error)


async def outer(tasks):
    await trace_outcome("outer", asyncio.gather(*tasks))


@scenario
async def gather_fails_once_though_two_fail():
    """If two tasks fail one turn apart, gather returns only the first failure. The second failure can be retrieved from
    the second task."""
    futures = [new_future(), new_future()]
    tasks = [asyncio.create_task(inner(*each)) for each in zip(futures, ("EIO", "ENOENT"))]
    task = asyncio.create_task(outer(tasks))
    await turns(1)
    for future in futures:
        future.set_result(0)
        await turns(1)
        trace("inner %s %s, outer %s", *map(state, tasks), state(task))
    await turns(2)
    trace("inner %s %s, outer %s", *map(state, tasks), state(task))


async def body(futures):
    await trace_outcome("gather", asyncio.gather(*futures))


@scenario
async def gather_fails_with_its_first_failure():
    """gather fails as soon as one of its futures fails. The other futures are not affected."""
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


async def gather_lets_body(delay, failure=None):
    await asyncio.sleep(delay)
    trace("%d ends", delay)
    if failure:
        raise Failure(failure)


@scenario
async def gather_lets_its_tasks_run_after_a_failure():
    """If a task fails, gather returns, but the other tasks continue until they end."""
    delays = (3, None), (1, None), (2, "EIO"), (4, "ENOENT")
    tasks = [asyncio.create_task(gather_lets_body(*each)) for each in delays]
    trace("gather: %s", await outcome(asyncio.gather(*tasks)))
    trace("tasks: %s", " ".join(map(state, tasks)))
    await asyncio.sleep(3)
    trace("tasks: %s", " ".join(map(state, tasks)))
    trace("gather of all: %s", await outcome(asyncio.gather(*tasks, return_exceptions=True)))
    trace("gather: %s", await outcome(asyncio.gather(*tasks)))


async def gather_of_all_collects_body(futures):
    results = await asyncio.gather(*futures, return_exceptions=True)
    trace("gathered %s", " ".join(
        name_of(r) if isinstance(r, BaseException) else str(r) for r in results))  # fmt: skip


@scenario
async def gather_of_all_collects_failures():
    """With return_exceptions, gather waits for every future, and returns failures among its results."""
    a, b, c, d = (new_future() for _ in range(4))
    task = asyncio.create_task(gather_of_all_collects_body([a, b, c, d]))
    await asyncio.sleep(1)
    b.set_result(1)
    c.set_exception(Failure("EIO"))
    a.set_result(3)
    await asyncio.sleep(1)
    trace("task: %s", state(task))
    d.set_exception(Failure("ENOENT"))
    trace("awaited: %s", await outcome(task))


@scenario
async def gather_of_nothing_takes_no_turn():
    """A gather of no futures, or of completed futures, takes no turn.

    Since: 3.12
    """
    ticks = asyncio.create_task(ticker(2))
    trace("nothing: %s", await outcome(asyncio.gather()))
    trace("nothing, all: %s", await outcome(asyncio.gather(return_exceptions=True)))
    one, two = new_future(), new_future()
    one.set_result(1)
    two.set_exception(Failure("EIO"))
    trace("done: %s", await outcome(asyncio.gather(one, one)))
    trace("failed: %s", await outcome(asyncio.gather(one, two)))
    trace("no turn has passed")
    await ticks


async def waiter(i, future):
    await trace_outcome("waiter %d" % i, asyncio.shield(future))


async def gatherer(tasks):
    await trace_outcome("gather", asyncio.gather(*tasks))


@scenario
async def gather_of_shields_leaves_the_futures_alone():
    """Cancelling a gather cancels tasks that await shielded futures, but not those futures."""
    futures = [new_future(), new_future()]
    tasks = [asyncio.create_task(waiter(i, f)) for i, f in enumerate(futures)]
    parent = asyncio.create_task(gatherer(tasks))
    await turns(1)
    parent.cancel()
    trace("parent: %s", await outcome(parent))
    trace("tasks %s %s", *map(state, tasks))
    trace("futures %s %s", *map(state, futures))
    futures[0].set_result(1)
    await turns(2)
    trace("futures %s %s", *map(state, futures))


async def gather_of_tasks_body(delay):
    trace("%d begins", delay)
    await asyncio.sleep(delay)
    trace("%d ends", delay)
    return delay


@scenario
async def gather_of_tasks_runs_them_side_by_side():
    """A gather of tasks takes as long as the longest task. The results are in the order of the arguments."""
    for everything in False, True:
        tasks = [asyncio.create_task(gather_of_tasks_body(delay)) for delay in (2, 3, 1)]
        results = await asyncio.gather(*tasks, return_exceptions=everything)
        trace("gathered %s", " ".join(map(str, results)))


@scenario
async def gather_takes_note_of_failures_that_come_too_late():
    """If a future fails after its gather has already failed, the failure is not reported as never retrieved."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    for delay in range(4):
        trace("%d turns later", delay)
        first, second = new_future(), new_future()
        task = asyncio.create_task(body([first, second]))
        await turns(1)
        first.set_exception(Failure("EIO"))
        await turns(delay)
        second.set_exception(Failure("ENOENT"))
        trace("both have failed: %s", state(task))
        await turns(4)
        trace("awaited: %s", await outcome(task))
        first = second = task = None


async def gather_takes_one_task_body(value):
    trace("runs for %d", value)
    await asyncio.sleep(1)
    return value


@scenario
async def gather_takes_one_task_several_times():
    """A task that is passed to gather several times runs once, and its result appears in each of its positions."""
    a = asyncio.create_task(gather_takes_one_task_body(1))
    b = asyncio.create_task(gather_takes_one_task_body(2))
    results = await asyncio.gather(a, a, b, a)
    trace("gathered %s", " ".join(map(str, results)))


async def child():
    await trace_outcome("child", asyncio.sleep(10))


async def gathers_of_one_task_body(name, tasks):
    try:
        await trace_outcome(name, asyncio.gather(*tasks))
    finally:
        trace("%s counted %d", name, asyncio.current_task().cancelling())


@scenario
async def gathers_of_one_task_end_together():
    """If two tasks gather the same child, cancelling one of these tasks cancels the child, and the other task gets the
    child's cancellation."""
    shared = asyncio.create_task(child())
    future = new_future()
    first = asyncio.create_task(gathers_of_one_task_body("first", [shared]))
    second = asyncio.create_task(gathers_of_one_task_body("second", [future, shared]))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(first.cancel()))
    await asyncio.wait([first, second])
    trace("first %s, second %s, future %s", state(first), state(second), state(future))


async def gathers_share_body(name, futures):
    results = await asyncio.gather(*futures)
    trace("%s: %s", name, " ".join(map(str, results)))


@scenario
async def gathers_share_their_futures():
    """Two tasks that gather the same futures in different orders both get all results."""
    futures = [new_future() for _ in range(3)]
    tasks = [asyncio.create_task(gathers_share_body("there", futures)),
             asyncio.create_task(gathers_share_body("back", futures[::-1]))]  # fmt: skip
    await turns(1)
    for i in 1, 2, 0:
        futures[i].set_result(10 + i)
        await asyncio.sleep(1)
        trace("%d is set: %s %s", i, *map(state, tasks))
