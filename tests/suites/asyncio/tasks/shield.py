"""Which cancellations of a future shield() prevents."""

from scenario import *


async def body(future):
    await trace_outcome("await", asyncio.shield(future))


@scenario
async def shield_ends_with_its_future_that_is_cancelled():
    """A shield does not prevent a direct cancellation of the shielded future."""
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    trace("cancel: %s", result_of(future.cancel()))
    await turns(1)
    trace("task %s", state(task))
    trace("awaited: %s, counted %d", await outcome(task), task.cancelling())


async def shield_hands_on_a_failure_body(i, future):
    try:
        await asyncio.shield(future)
    except Failure as failure:
        trace("%d: %s", i, failure.args[0])
        return i
    return 0


@scenario
async def shield_hands_on_a_failure():
    """If a shielded future fails, the task that awaits the shield gets the failure. Other tasks are not affected."""
    future = new_future()
    tasks = [asyncio.create_task(shield_hands_on_a_failure_body(i, future)) for i in (1, 2)]
    await asyncio.sleep(1)
    future.set_exception(Failure("EIO"))
    await asyncio.wait(tasks)
    trace("future %s, tasks %s %s", state(future), *map(state, tasks))


async def bare(future):
    await trace_outcome("bare", future)


async def shielded(future):
    await trace_outcome("shielded", asyncio.shield(future))


@scenario
async def shield_hands_on_a_result():
    """Awaiting a shielded future takes one turn longer than awaiting the future itself."""
    future = new_future()
    tasks = [asyncio.create_task(body(future)) for body in (shielded, bare)]
    await turns(1)
    ticks = asyncio.create_task(ticker(3))
    await turns(1)
    future.set_result(42)
    trace("set")
    await asyncio.wait([*tasks, ticks])


@scenario
async def shield_keeps_its_future_from_being_cancelled():
    """If a task that awaits a shielded future is cancelled, the future stays pending, and can still be set."""
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    await turns(1)
    trace("task %s, future %s", state(task), state(future))
    future.set_result(5)
    await turns(2)
    trace("task %s, future %s", state(task), state(future))


@scenario
async def shield_of_what_is_done_takes_no_turn():
    """Awaiting a shield around a completed future takes no turn."""
    future = new_future()
    future.set_result(42)
    ticks = asyncio.create_task(ticker(1))
    trace("shield: %s", await outcome(asyncio.shield(future)))
    trace("no turn has passed")
    failed = new_future()
    failed.set_exception(Failure("EIO"))
    trace("shield: %s", await outcome(asyncio.shield(failed)))
    await ticks


@scenario
async def shield_waiter_is_cancelled_after_its_future_was_set():
    """A task that awaits a shielded future can be cancelled even after the future was set, until the task runs."""
    future = new_future()
    task = asyncio.create_task(body(future))
    await turns(1)
    future.add_done_callback(lambda _: trace("cancel: %s", result_of(task.cancel())))
    future.set_result(1)
    trace("awaited: %s", await outcome(task))
    trace("future: %s", state(future))


async def shield_waiter_is_cancelled_as_its_future_body(i, future):
    return await trace_outcome("waiter %d" % i, asyncio.shield(future))


@scenario
async def shield_waiter_is_cancelled_as_its_future_is_set():
    """If a shielded future is set and the task that awaits it is cancelled in the same turn, the task gets the
    cancellation."""
    future = new_future()
    tasks = [asyncio.create_task(shield_waiter_is_cancelled_as_its_future_body(i, future))
             for i in range(3)]  # fmt: skip
    ticks = asyncio.create_task(ticker(4))
    await turns(1)
    tasks[0].cancel()
    future.set_result(1)
    tasks[1].cancel()
    trace("set between two cancels")
    await asyncio.wait([*tasks, ticks])
    trace("tasks %s %s %s", *map(state, tasks))


@scenario
async def shielded_failure_nobody_waits_for_is_reported():
    """If a shielded future fails a turn or more after its waiter was cancelled, the failure is reported."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    for how in "cancel, a turn, fail", "cancel, fail", "fail, cancel":
        trace("%s", how)
        future = new_future()
        task = asyncio.create_task(body(future))
        await turns(1)
        for step in how.split(", "):
            if step == "cancel":
                task.cancel()
            elif step == "fail":
                future.set_exception(Failure("EIO"))
            else:
                await turns(2)
        trace("awaited: %s", await outcome(task))
        await turns(1)
        future = task = None


async def gatherer(futures):
    trace("gathered %d and %d", *await asyncio.gather(*futures))


async def outer(task):
    await trace_outcome("outer", asyncio.shield(task))


@scenario
async def shielded_gather_outlives_its_waiter():
    """A shielded task that gathers two futures gets both results even if the task that awaits the shield is
    cancelled."""
    futures = [new_future(), new_future()]
    inner = asyncio.create_task(gatherer(futures))
    waiter = asyncio.create_task(outer(inner))
    await turns(1)
    waiter.cancel()
    await turns(1)
    trace("waiter %s, futures %s %s", state(waiter), *map(state, futures))
    futures[0].set_result(1)
    futures[1].set_result(2)
    trace("inner: %s", await outcome(inner))


async def inner(future):
    await trace_outcome("inner", future)
    return asyncio.current_task().cancelling()


@scenario
async def shielded_task_outlives_its_waiter():
    """If the waiter of a shielded task is cancelled, the shielded task continues and does not receive the
    request."""
    future = new_future()
    inner_task = asyncio.create_task(inner(future))
    outer_task = asyncio.create_task(outer(inner_task))
    await turns(1)
    outer_task.cancel()
    trace("outer task: %s", await outcome(outer_task))
    future.set_result(1)
    trace("inner task: %s", await outcome(inner_task))


async def work():
    await asyncio.sleep(3)
    trace("work is done")
    return 5


async def shielded_work_body(task):
    try:
        await trace_outcome("shield", asyncio.shield(task))
    except asyncio.CancelledError:
        await trace_outcome("await", task)
        raise


@scenario
async def shielded_work_is_awaited_before_leaving():
    """If a task is cancelled while it awaits shielded work, it may still await that work before it ends."""
    inner = asyncio.create_task(work())
    task = asyncio.create_task(shielded_work_body(inner))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(task.cancel()))
    await asyncio.sleep(1)
    trace("task %s", state(task))
    trace("awaited: %s", await outcome(task))


async def shielding(name, future):
    await trace_outcome(name, asyncio.shield(future))


@scenario
async def shields_around_shields_protect_twice():
    """If two shields are nested, cancelling the outermost task does not cancel the other tasks."""
    future = new_future()
    middle = asyncio.create_task(shielding("middle", future))
    outer = asyncio.create_task(shielding("outer", middle))
    await turns(1)
    outer.cancel()
    await turns(1)
    trace("outer %s, middle %s, future %s", *map(state, (outer, middle, future)))
    middle.cancel()
    await turns(1)
    trace("outer %s, middle %s, future %s", *map(state, (outer, middle, future)))
    future.cancel()
    await turns(1)
    trace("outer %s, middle %s, future %s", *map(state, (outer, middle, future)))
