"""Which tasks and futures a cancellation reaches, and its reason."""

from scenario import *


async def cancel_beats_body(future):
    await trace_outcome("first", future)


@scenario
async def cancel_beats_a_result_not_yet_taken():
    """If a future is set, and its awaiter is cancelled before it runs, the awaiter does not get the result."""
    future = new_future()
    task = asyncio.create_task(cancel_beats_body(future))
    await turns(1)
    future.set_result(5)
    trace("cancel: %s", result_of(task.cancel()))
    trace("future %s, task %s", state(future), state(task))
    trace("awaited: %s", await outcome(task))
    trace("future %s", state(future))


@scenario
async def cancel_by_a_timer_ends_a_long_sleep():
    """If a timer cancels a task during a long sleep, the task that awaits the sleeping task continues at once."""
    task = asyncio.create_task(asyncio.sleep(5000))
    asyncio.get_running_loop().call_later(1, task.cancel)
    result = await outcome(task)
    trace("awaited: %s, counted %d", result, asyncio.current_task().cancelling())
    await asyncio.sleep(1)
    trace("goes on")


async def cancel_ends_body():
    trace("sleeps")
    await trace_outcome("slept", asyncio.sleep(10))


@scenario
async def cancel_ends_a_sleep_at_once():
    """If a callback cancels a sleeping task, the task ends in the next turn, not when its sleep would end."""
    task = asyncio.create_task(cancel_ends_body())
    asyncio.get_running_loop().call_soon(task.cancel)
    trace("awaited: %s", await outcome(task))
    trace("state: %s", state(task))
    trace("cancel again: %s", result_of(task.cancel()))


async def deaf():
    trace("deaf: %s", await outcome(asyncio.sleep(10)))
    await asyncio.sleep(2)
    return 5


async def cancel_is_swallowed_body(task):
    await trace_outcome("awaited", task)
    trace("counted: %d", asyncio.current_task().cancelling())
    await trace_outcome("waits on", asyncio.sleep(1))


@scenario
async def cancel_is_swallowed_by_the_awaited_task():
    """Cancelling a task cancels the task that it awaits. If the awaited task ignores the cancellation, neither of them
    is cancelled."""
    inner = asyncio.create_task(deaf())
    task = asyncio.create_task(cancel_is_swallowed_body(inner))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("task: %s", await outcome(task))
    trace("counted: %d %d", task.cancelling(), inner.cancelling())


async def inner(future):
    await trace_outcome("inner", future)


async def outer(future):
    try:
        await trace_outcome("outer", inner(future))
    except asyncio.CancelledError:
        trace("outer catches it")
    return 101


@scenario
async def cancel_passes_through_nested_calls_to_the_future():
    """A cancellation is passed to the future that the innermost call awaits, and is returned by all nested calls."""
    future = new_future()
    task = asyncio.create_task(outer(future))
    await turns(1)
    task.cancel()
    trace("awaited: %s", await outcome(task))
    trace("future: %s, counted %d", state(future), task.cancelling())


async def cancel_reaches_body():
    await trace_outcome("first", asyncio.sleep(0))
    await trace_outcome("second", asyncio.sleep(0))


@scenario
async def cancel_reaches_a_task_that_yields():
    """A task that is cancelled while it yields gets the cancellation from that yield."""
    task = asyncio.create_task(cancel_reaches_body())
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    ticks = asyncio.create_task(ticker(2))
    trace("awaited: %s", await outcome(task))
    trace("cancel: %s", result_of(task.cancel()))
    await ticks


async def awaiting(future):
    await trace_outcome("awaiting", future)


async def gathering(future):
    await trace_outcome("gathering", asyncio.gather(future))


@scenario
async def cancel_reason_comes_up_from_the_future():
    """If a future is cancelled, the tasks that await it are cancelled, and their awaiters get the reason, even through
    gather."""
    for body in awaiting, gathering:
        future = new_future()
        task = asyncio.create_task(awaiting(asyncio.create_task(body(future))))
        await turns(2)
        future.cancel("out of order")
        try:
            await task
        except asyncio.CancelledError as error:
            trace("because: %s", error.args[0])
        trace("counted: %d", task.cancelling())


async def cancel_reason_is_kept_body():
    trace("never printed")


@scenario
async def cancel_reason_is_kept_for_a_task_that_never_began():
    """The reason of a cancellation is available even if the task was cancelled before its first step."""
    task = asyncio.create_task(cancel_reason_is_kept_body())
    task.cancel("not needed")
    trace("awaited: %s", await outcome(asyncio.wait([task])))
    trace("state: %s", state(task))
    try:
        task.result()
    except asyncio.CancelledError as error:
        trace("reason: %s", error.args[0])


def reason_of(task):
    try:
        task.result()
    except asyncio.CancelledError as error:
        return error.args[0] if error.args else "none"


async def cancel_reason_reaches_body():
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError as error:
        trace("inside: %s", error.args[0] if error.args else "none")
        raise


@scenario
async def cancel_reason_reaches_who_waits_for_the_task():
    """The reason of a cancellation is visible inside the task, and to the tasks that await it."""
    for arguments in ("time to go home",), ():
        task = asyncio.create_task(cancel_reason_reaches_body())
        await turns(1)
        task.cancel(*arguments)
        done, _ = await asyncio.wait([task])
        trace("outside: %d done, %s", len(done), reason_of(task))


async def chain(i, inner):
    try:
        await inner
    finally:
        trace("link %d ends", i)


@scenario
async def cancel_runs_down_a_chain_and_comes_back_up():
    """Cancelling the first of four tasks in a chain of awaits cancels all four at once. The tasks end one turn after
    another."""
    future = new_future()
    tasks = []
    for i in range(4):
        tasks.append(asyncio.create_task(chain(i, tasks[-1] if tasks else future)))
    await turns(2)
    ticks = asyncio.create_task(ticker(5))
    trace("cancel: %s", result_of(tasks[3].cancel()))
    trace("counted: %s", " ".join(str(task.cancelling()) for task in tasks))
    trace("awaited: %s", await outcome(tasks[3]))
    trace("states: %s", " ".join(map(state, tasks)))
    await ticks


async def cancelled_child_child(future):
    future.set_result(None)
    await trace_outcome("child", asyncio.sleep(10))


async def parent():
    future = new_future()
    task = asyncio.create_task(cancelled_child_child(future))
    await future
    asyncio.get_running_loop().call_soon(task.cancel, "called off")
    try:
        await task
    except asyncio.CancelledError as error:
        trace("parent: %s", error.args[0])
        raise Failure("EINVAL")


@scenario
async def cancelled_child_makes_its_parent_fail():
    """A parent may handle its child's cancellation by failing with an error of its own."""
    task = asyncio.create_task(parent())
    trace("awaited: %s", await outcome(task))
    trace("counted: %d", task.cancelling())


async def cancelled_future_cancels_body(future):
    try:
        await trace_outcome("await", future)
    finally:
        trace("counted: %d", asyncio.current_task().cancelling())


@scenario
async def cancelled_future_cancels_who_awaits_it():
    """If a future is cancelled, its awaiter is cancelled too, although no cancellation of the awaiter was requested."""
    future = new_future()
    task = asyncio.create_task(cancelled_future_cancels_body(future))
    await turns(1)
    trace("cancel: %s", result_of(future.cancel()))
    trace("future %s, task %s", state(future), state(task))
    trace("awaited: %s", await outcome(task))
    trace("future %s, task %s", state(future), state(task))


async def cancelled_future_is_awaited_body(future):
    trace("first: %s", await outcome(future))
    trace("again: %s", await outcome(future))
    trace("shield: %s", await outcome(asyncio.shield(future)))
    trace("gather: %s", await outcome(asyncio.gather(future)))
    trace("yield: %s", await outcome(asyncio.sleep(0)))
    return 1


@scenario
async def cancelled_future_is_awaited_again_at_once():
    """If a task is cancelled while it awaits a future, the future is cancelled too. The task may await this future
    again, and the second await returns at once.

    Since: 3.12
    """
    future = new_future()
    task = asyncio.create_task(cancelled_future_is_awaited_body(future))
    await turns(1)
    ticks = asyncio.create_task(ticker(3))
    trace("cancel: %s", result_of(task.cancel()))
    trace("awaited: %s", await outcome(task))
    await ticks


async def cancelled_sleep_body():
    for delay in 5, 7:
        trace("sleep of %d: %s", delay, await outcome(asyncio.sleep(delay)))


@scenario
async def cancelled_sleep_leaves_nothing_behind():
    """A cancelled sleep does not wake its task at the original deadline."""
    task = asyncio.create_task(cancelled_sleep_body())
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    await turns(2)
    trace("state: %s", state(task))
    trace("awaited: %s", await outcome(task))


@scenario
async def cancelled_task_cancels_the_future_it_awaits():
    """Cancelling a task cancels the awaited future at once, and the task one turn later."""
    future = new_future()

    async def body():
        return await trace_outcome("await", future)

    task = asyncio.create_task(body())
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("future %s, task %s", state(future), state(task))
    await turns(1)
    trace("future %s, task %s", state(future), state(task))
    trace("awaited: %s", await outcome(task))


async def child_cancels_child(parent):
    trace("child cancels: %s", result_of(parent().cancel()))
    trace("child counts %d", asyncio.current_task().cancelling())
    return 1


@scenario
async def child_cancels_the_parent_that_awaits_it():
    """A child that cancels its waiting parent also cancels itself, because the parent awaits it. The child ends as
    cancelled even if it returns without waiting."""
    parent_task = None

    async def parent():
        task = asyncio.create_task(child_cancels_child(lambda: parent_task))
        try:
            await trace_outcome("parent", task)
        finally:
            trace("parent counts %d", parent_task.cancelling())

    parent_task = asyncio.create_task(parent())
    trace("awaited: %s", await outcome(parent_task))


async def second_cancel_body():
    try:
        await trace_outcome("work", asyncio.sleep(10))
    except asyncio.CancelledError:
        trace("cleanup: %s", result := await outcome(asyncio.sleep(3)))
        trace("counted: %d", asyncio.current_task().cancelling())
        raise asyncio.CancelledError if result == "ECANCELED" else Failure("EIO")


@scenario
async def second_cancel_interrupts_the_cleanup():
    """After a task has caught its cancellation, its cleanup may wait. A second request interrupts the cleanup."""
    for cancels in 1, 2:
        task = asyncio.create_task(second_cancel_body())
        await asyncio.sleep(1)
        for _ in range(cancels):
            trace("cancel: %s", result_of(task.cancel()))
            await asyncio.sleep(1)
        trace("awaited: %s", await outcome(task))
