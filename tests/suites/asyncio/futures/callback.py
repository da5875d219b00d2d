"""When and in which order a future's callbacks are called, and how they are removed."""

from scenario import *


async def callback_cancels_waiter(i, future):
    try:
        await trace_outcome("waiter %d" % i, future)
    finally:
        trace("counted: %d", asyncio.current_task().cancelling())


@scenario
async def callback_cancels_a_task_that_is_ready():
    """A callback runs between the two tasks that await a future. The callback can cancel the second task, which is
    already ready, but not the first, which has ended."""
    future = new_future()
    tasks = [asyncio.create_task(callback_cancels_waiter(0, future))]
    await turns(1)
    future.add_done_callback(
        lambda f: trace("cancel: %s", " ".join(result_of(t.cancel()) for t in tasks)))  # fmt: skip
    tasks.append(asyncio.create_task(callback_cancels_waiter(1, future)))
    await turns(1)
    future.set_result(0)
    await asyncio.wait(tasks)
    trace("tasks: %s %s", *map(state, tasks))


@scenario
async def callback_cannot_remove_what_is_ready():
    """When a future is done, all its callbacks move to the ready queue, so none of them can remove a later one."""
    future = new_future()

    def second(_):
        trace("second")

    def first(f):
        trace("first removes %d", f.remove_done_callback(second))

    for callback in first, second, second:
        future.add_done_callback(callback)
    future.set_result(1)
    trace("set; removed %d", future.remove_done_callback(second))
    await turns(1)
    trace("one turn later")


def chain(source, target):
    def copy(future):
        if future.cancelled():
            target.cancel()
        elif future.exception():
            target.set_exception(future.exception())
        else:
            target.set_result(future.result())
        trace("copied: %s", state(target))

    source.add_done_callback(copy)


@scenario
async def callback_copies_its_future_to_another():
    """A callback passes a result, a failure or a cancellation from one future to the next."""
    for complete in (lambda f: f.set_result(10), lambda f: f.set_exception(Failure("EIO")),
                     lambda f: f.cancel()):  # fmt: skip
        source, target = new_future(), new_future()
        chain(source, target)
        complete(source)
        trace("source %s, target %s", state(source), state(target))
        trace("target: %s", await outcome(target))


@scenario
async def callback_is_removed_as_often_as_it_was_added():
    """If a callback was added several times, one call removes it completely, and returns how many times it was
    added."""
    future = new_future()
    callbacks = [lambda f, i=i: trace("callback %d", i) for i in range(4)]
    future.add_done_callback(callbacks[1])
    future.add_done_callback(callbacks[2])
    trace("removed %d", future.remove_done_callback(callbacks[2]))
    trace("removed %d", future.remove_done_callback(callbacks[3]))
    future.add_done_callback(callbacks[2])
    for _ in range(5):
        future.add_done_callback(callbacks[1])
    trace("removed %d", future.remove_done_callback(callbacks[1]))
    future.set_result(1)
    await turns(1)
    trace("removed %d", future.remove_done_callback(callbacks[2]))


@scenario
async def callback_that_is_added_late_is_called_in_the_next_turn():
    """A callback that is added to a completed future is called in the next turn, not at once."""
    future = new_future()
    future.set_result(4)

    def late(f):
        trace("late: %s", state(f))
        f.add_done_callback(lambda _: trace("later still"))
        trace("added another")

    ticks = asyncio.create_task(ticker(3))
    future.add_done_callback(late)
    trace("added")
    await ticks


@scenario
async def callback_that_was_first_is_removed():
    """A removed callback is not called. A second removal of the same callback removes nothing."""
    future = new_future()
    callbacks = [lambda f, i=i: trace("callback %d", i) for i in range(3)]
    for callback in callbacks:
        future.add_done_callback(callback)
    trace("removed %d", future.remove_done_callback(callbacks[0]))
    trace("removed %d", future.remove_done_callback(callbacks[0]))
    future.set_result(1)
    trace("set")
    await turns(1)
    trace("state: %s", state(future))


@scenario
async def callback_that_was_last_is_removed():
    """If the last of three callbacks is removed, the first two are called, and so is a callback that is added later."""
    future = new_future()
    callbacks = [lambda f, i=i: trace("callback %d", i) for i in range(4)]
    for callback in callbacks[:3]:
        future.add_done_callback(callback)
    trace("removed %d", future.remove_done_callback(callbacks[2]))
    trace("removed %d", future.remove_done_callback(callbacks[2]))
    future.add_done_callback(callbacks[3])
    future.cancel()
    await turns(1)
    trace("state: %s", state(future))


async def callbacks_and_awaiters_waiter(name, future):
    trace("%s: %s", name, await outcome(future))


@scenario
async def callbacks_and_awaiters_keep_their_order():
    """The awaiters and callbacks of a future share one queue, and are served in the order in which they were added."""
    future = new_future()
    tasks = [asyncio.create_task(callbacks_and_awaiters_waiter("first task", future))]
    await turns(1)
    future.add_done_callback(lambda f: trace("first callback"))
    tasks.append(asyncio.create_task(callbacks_and_awaiters_waiter("second task", future)))
    await turns(1)
    future.add_done_callback(lambda f: trace("second callback"))
    await asyncio.sleep(1)
    future.set_result(3)
    await asyncio.wait(tasks)


@scenario
async def callbacks_are_called_for_a_failure():
    """A future that fails calls its callbacks, which may ignore the failure."""
    future = new_future()
    future.add_done_callback(lambda f: trace("sees %s", state(f)))
    future.add_done_callback(lambda f: trace("sees it is done: %s", result_of(f.done())))
    await asyncio.sleep(1)
    future.set_exception(Failure("EIO"))
    trace("failed")
    await asyncio.sleep(1)
    trace("future: %s", state(future))


@scenario
async def callbacks_are_called_in_the_next_turn():
    """When a result is set, the callbacks are not called at once. The loop calls them in the next turn, in the order
    in which they were added."""
    future = new_future()
    ticks = asyncio.create_task(ticker(2))
    for i in range(3):
        future.add_done_callback(lambda f, i=i: trace("callback %d: %s", i, state(f)))
    future.set_result(17)
    trace("set")
    await turns(1)
    trace("one turn later")
    await ticks


@scenario
async def callbacks_that_were_first_and_second_are_removed():
    """If the first two of three callbacks are removed, only the third is called."""
    future = new_future()
    callbacks = [lambda f, i=i: trace("callback %d", i) for i in range(3)]
    for callback in callbacks:
        future.add_done_callback(callback)
    for i in 0, 1, 0:
        trace("removed %d", future.remove_done_callback(callbacks[i]))
    future.set_result(1)
    await turns(1)
    trace("state: %s", state(future))
