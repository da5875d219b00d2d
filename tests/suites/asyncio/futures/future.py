"""How a future is set, failed, cancelled and awaited."""

from scenario import *


@scenario
async def all_kinds_of_waiters_stand_in_one_line():
    """Awaiters, shields, gathers, waits and callbacks of a future are served in the order in which they were added.
    With gather, wait and shield, the task continues one turn later."""
    future = new_future()

    async def awaits():
        await trace_outcome("await", future)

    async def shields():
        await trace_outcome("shield", asyncio.shield(future))

    async def gathers():
        await trace_outcome("gather", asyncio.gather(future))

    async def waits():
        await trace_outcome("wait", asyncio.wait([future]))

    tasks = [asyncio.create_task(body()) for body in (waits, gathers, shields, awaits)]
    await turns(1)
    future.add_done_callback(lambda f: trace("callback"))
    tasks.append(asyncio.create_task(ticker(3)))
    future.set_result(0)
    await asyncio.wait(tasks)


@scenario
async def cancelled_future_takes_no_result():
    """Setting a result or failure on a cancelled future is an error, and the future stays cancelled."""
    future = new_future()
    trace("cancel: %s", result_of(future.cancel()))
    trace("set: %s", attempt(future.set_result, 1))
    trace("fail: %s", attempt(future.set_exception, Failure("EIO")))
    trace("cancel: %s", result_of(future.cancel()))
    trace("state: %s", state(future))
    trace("awaited: %s", await outcome(future))


@scenario
async def failed_future_takes_no_result():
    """Every call that reads the result of a failed future returns the failure."""
    future = new_future()
    trace("before: %s", state(future))
    trace("fail: %s", attempt(future.set_exception, Failure("EIO")))
    trace("after: %s, cancelled %s", state(future), result_of(future.cancelled()))
    trace("set: %s", attempt(future.set_result, 1))
    trace("fail: %s", attempt(future.set_exception, Failure("ENOENT")))
    trace("cancel: %s", result_of(future.cancel()))
    for _ in range(2):
        trace("awaited: %s", await outcome(future))


async def failed_task_body():
    await asyncio.sleep(1)
    raise Failure("EIO")


async def failed_task_waiter(i, task):
    trace("waiter %d: %s", i, await outcome(task))


@scenario
async def failed_task_is_awaited_again_and_again():
    """All awaiters of a failed task get the same failure, even those that await it later."""
    task = asyncio.create_task(failed_task_body())
    waiters = [asyncio.create_task(failed_task_waiter(i, task)) for i in range(2)]
    for _ in range(3):
        trace("awaited: %s", await outcome(task))
    await asyncio.wait(waiters)


async def failure_awaited_body():
    raise Failure("EIO")


@scenario
async def failure_awaited_again_has_the_same_traceback():
    """If a failed task is awaited several times, the traceback of each await does not contain the other awaits."""
    task = asyncio.create_task(failure_awaited_body())
    for i in range(5):
        try:
            await task
        except Failure as error:
            awaits, traceback = 0, error.__traceback__
            while traceback is not None:
                awaits += traceback.tb_frame.f_code.co_name.startswith("failure_awaited_again")
                traceback = traceback.tb_next
            trace("%d: %s, awaits: %d", i, name_of(error), awaits)


@scenario
async def future_begins_pending_and_is_cancelled_at_once():
    """A new future is pending. Cancelling a future takes effect before the call returns."""
    future = new_future()
    trace("done %s, cancelled %s", result_of(future.done()), result_of(future.cancelled()))
    trace("cancel: %s", result_of(future.cancel()))
    trace("done %s, cancelled %s", result_of(future.done()), result_of(future.cancelled()))
    trace("awaited: %s", await outcome(future))


@scenario
async def future_failure_is_not_reported_after_cancel():
    """A failed future is reported when it is released, unless its failure was retrieved or the future was cancelled
    after it had failed."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    for how in "dropped", "retrieved", "cancelled":
        trace("%s", how)
        future = new_future()
        future.set_exception(Failure("EIO"))
        if how == "retrieved":
            trace("exception: %s", name_of(future.exception()))
        if how == "cancelled":
            trace("cancel: %s", result_of(future.cancel()))
        future = None


async def future_is_awaited_body(future):
    await trace_outcome("first", future)
    await trace_outcome("second", future)
    return 3


@scenario
async def future_is_awaited_twice_and_waits_once():
    """If a task awaits the same future twice, it suspends only the first time."""
    future = new_future()
    task = asyncio.create_task(future_is_awaited_body(future))
    ticks = asyncio.create_task(ticker(4))
    await turns(2)
    future.set_result(42)
    trace("awaited: %s", await outcome(task))
    await ticks


@scenario
def future_is_made_before_its_loop_runs():
    """A future may be created, and callbacks may be added, before the loop runs."""
    loop = VirtualLoop()
    future = loop.create_future()
    future.add_done_callback(lambda f: trace("callback: %s", state(f)))
    loop.call_later(2, future.set_result, 5)
    trace("before: %s", state(future))
    trace("result: %d", loop.run_until_complete(future))
    trace("again: %d", loop.run_until_complete(future))
    loop.close()
    trace("after: %s", state(future))


async def future_keeps_body(future):
    try:
        await future
    except asyncio.CancelledError as error:
        trace("cancelled: %s", error.args[0])
        raise


@scenario
async def future_keeps_the_reason_of_its_cancellation():
    """The awaiter of a cancelled future can read the reason. A second cancel does not change the reason."""
    future = new_future()
    task = asyncio.create_task(future_keeps_body(future))
    await turns(1)
    trace("cancel: %s", result_of(future.cancel("nobody asked")))
    trace("cancel: %s", result_of(future.cancel("another reason")))
    trace("awaited: %s", await outcome(task))
    trace("future: %s", state(future))


@scenario
async def future_with_a_result_takes_no_other():
    """A future's result is available as soon as it is set, and cannot be changed."""
    future = new_future()
    trace("before: %s", state(future))
    trace("set: %s", attempt(future.set_result, 42))
    trace("after: %s, cancelled %s", state(future), result_of(future.cancelled()))
    trace("set: %s", attempt(future.set_result, 43))
    trace("fail: %s", attempt(future.set_exception, Failure("EIO")))
    trace("cancel: %s", result_of(future.cancel()))
    trace("awaited: %s", await outcome(future))


async def futures_wake_waiter(i, future):
    trace("waiter %d: %s", i, await outcome(future))


@scenario
async def futures_wake_in_the_order_in_which_they_are_set():
    """If several futures are set in one turn, their awaiters continue in the order in which the futures were
    set."""
    futures = [new_future() for _ in range(4)]
    tasks = [asyncio.create_task(futures_wake_waiter(i, future))
             for i, future in enumerate(futures)]  # fmt: skip
    await turns(1)
    for i in 2, 0, 3, 1:
        if i == 3:
            futures[i].cancel()
        else:
            futures[i].set_result(i)
        trace("%d is done", i)
    await asyncio.wait(tasks)


async def one_of_two_waiter(i, future):
    try:
        await trace_outcome("waiter %d" % i, future)
    finally:
        trace("counted: %d", asyncio.current_task().cancelling())


@scenario
async def one_of_two_awaiters_is_cancelled():
    """If two tasks await the same future, cancelling one task cancels the future, and thus also the other task."""
    future = new_future()
    tasks = [asyncio.create_task(one_of_two_waiter(i, future)) for i in range(2)]
    await turns(2)
    trace("cancel: %s", result_of(tasks[1].cancel()))
    trace("future %s, tasks %s %s", state(future), *map(state, tasks))
    trace("cancel the future: %s", result_of(future.cancel()))
    await asyncio.wait(tasks)
    trace("future %s, tasks %s %s", state(future), *map(state, tasks))


@scenario
async def result_that_comes_after_cancel_is_refused():
    """A timer callback does not set its future if the future was cancelled in the meantime."""
    future = new_future()
    asyncio.get_running_loop().call_later(
        2, lambda: trace("timer sets: %s", attempt(future.set_result, 2)))  # fmt: skip
    task = asyncio.create_task(trace_outcome("task", future))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    await asyncio.sleep(2)
    trace("future %s, task %s", state(future), state(task))
