"""Which failures are reported as never retrieved."""

from scenario import *


async def never_retrieved_failure_behind_body():
    await asyncio.sleep(2)
    trace("fails")
    raise Failure("EIO")


async def waiter():
    await trace_outcome("shield", asyncio.shield(asyncio.create_task(never_retrieved_failure_behind_body())))


@scenario
async def never_retrieved_failure_behind_a_shield_is_reported():
    """If the task that awaits a shielded future is cancelled, and the future fails later, the failure is reported,
    because no task retrieves it."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    task = asyncio.create_task(waiter())
    await asyncio.sleep(1)
    task.cancel()
    trace("waiter: %s", await outcome(task))
    await asyncio.sleep(2)


@scenario
async def never_retrieved_failure_of_a_future_is_reported():
    """A failed future that was never retrieved is reported once, when its last reference is
    released."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    future = new_future()
    other = future
    future.set_exception(Failure("EIO"))
    trace("set")
    await turns(2)
    del future
    trace("one reference left")
    del other
    trace("none left")


async def never_retrieved_failure_of_a_task_body(name):
    await asyncio.sleep(1)
    trace("%s fails", name)
    raise Failure("EIO")


@scenario
async def never_retrieved_failure_of_a_task_is_reported():
    """If a task's failure was never retrieved, it is reported when the last reference to the task is released, or when
    the task ends without references."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    held = asyncio.create_task(never_retrieved_failure_of_a_task_body("held"))
    asyncio.create_task(never_retrieved_failure_of_a_task_body("loose"))
    await asyncio.sleep(2)
    trace("done: %d", held.done())
    del held
    trace("let go")


async def body(i, fails):
    await asyncio.sleep(i)
    trace("%d ends", i)
    if fails:
        raise Failure("EIO")


@scenario
async def never_retrieved_failure_of_the_last_waited_for_is_reported():
    """A wait for the first failure does not retrieve the failure of the last future, because the wait would also end if
    that future succeeded."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    tasks = [asyncio.create_task(body(i + 1, fails)) for i, fails in enumerate((False, True))]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    trace("waited")
    await asyncio.sleep(3)
    while tasks:
        del tasks[0]
        trace("let go of one")


@scenario
async def never_retrieved_failure_that_ended_a_wait_is_silent():
    """A wait for the first failure retrieves that failure, but not later ones."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    tasks = [asyncio.create_task(body(i + 1, fails)) for i, fails in enumerate((True, True))]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    trace("waited")
    await asyncio.sleep(3)
    while tasks:
        del tasks[0]
        trace("let go of one")


def failed():
    future = new_future()
    future.set_exception(Failure("EIO"))
    return future


@scenario
async def never_retrieved_failure_that_was_asked_for_is_silent():
    """A failure that was retrieved through the result, the exception or an await is not reported."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    future = failed()
    trace("result: %s", attempt(future.result))
    del future
    future = failed()
    trace("exception: %s", name_of(future.exception()))
    del future
    future = failed()
    trace("awaited: %s", await outcome(future))
    del future
    future = failed()
    trace("done: %d", future.done())
    del future
    trace("end")


@scenario
async def never_retrieved_failures_after_a_wait_are_reported():
    """Waiting until all futures have ended does not retrieve their results."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    tasks = [asyncio.create_task(body(i + 1, fails)) for i, fails in enumerate((True, True))]
    await asyncio.wait(tasks, return_when=asyncio.ALL_COMPLETED)
    trace("waited")
    await asyncio.sleep(3)
    while tasks:
        del tasks[0]
        trace("let go of one")


async def never_retrieved_failures_are_reported_body(i):
    await asyncio.sleep(i)
    trace("%d fails", i)
    raise Failure(("EIO", "EPROTO", "EBADF")[i])


@scenario
async def never_retrieved_failures_are_reported_in_the_order_of_release():
    """Failures are reported in the order in which the futures are released, not in the order in which they
    failed."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    tasks = [asyncio.create_task(never_retrieved_failures_are_reported_body(i)) for i in range(3)]
    await asyncio.sleep(3)
    for i in (1, 2, 0):
        trace("let go of %d", i)
        tasks[i] = None


async def never_retrieved_failures_of_gathered_body(seconds):
    await asyncio.sleep(seconds)
    trace("%d fails", seconds)
    raise Failure("EIO")


@scenario
async def never_retrieved_failures_of_gathered_tasks_are_silent():
    """gather() returns the first failure of its tasks, and marks later failures as retrieved, so they are not
    reported."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    bodies = map(never_retrieved_failures_of_gathered_body, (1, 2, 3))
    gathered = asyncio.gather(*map(asyncio.create_task, bodies))
    asyncio.create_task(never_retrieved_failures_of_gathered_body(4))
    trace("gathered: %s", await outcome(gathered))
    del gathered
    await asyncio.sleep(4)


@scenario
async def never_retrieved_results_are_silent():
    """Only failures are reported, not results, cancelled futures or pending futures."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    pending, result, asked, cancelled = [new_future() for _ in range(4)]
    result.set_result(42)
    asked.set_result(43)
    cancelled.cancel()
    trace("asked: %s", state(asked))
    await turns(1)
    del pending
    trace("pending: gone")
    del result
    trace("result: gone")
    del asked
    trace("asked: gone")
    del cancelled
    trace("cancelled: gone")
