"""Timeouts of blocks of code."""

from scenario import *


async def timeout_after_a_cancellation_meets_cleanup():
    async with traced_timeout("timeout", 1):
        asyncio.current_task().cancel()
        await trace_outcome("cleanup", asyncio.sleep(10))


@scenario
async def timeout_after_a_cancellation_meets_another():
    """If a task that has caught a cancellation is cancelled again in a block with a deadline, the block returns the
    cancellation, not a timeout.
    """
    asyncio.current_task().cancel()
    trace("work: %s", await outcome(asyncio.sleep(1)))
    trace("caught %s", await outcome(timeout_after_a_cancellation_meets_cleanup()))
    trace("cancelling %d", asyncio.current_task().cancelling())


async def timeout_after_a_cancellation_that_was_caught_cleanup():
    async with traced_timeout("timeout", 0):
        await trace_outcome("cleanup", asyncio.sleep(10))


@scenario
async def timeout_after_a_cancellation_that_was_caught():
    """After a task has caught a cancellation without uncancel(), a timeout still works as usual.

    Since: 3.12 (and releases of 3.11 that are newer than Debian 12's 3.11.2)
    """
    asyncio.current_task().cancel()
    trace("work: %s", await outcome(asyncio.sleep(1)))
    trace("caught %s", await outcome(timeout_after_a_cancellation_that_was_caught_cleanup()))
    trace("cancelling %d", asyncio.current_task().cancelling())


async def body():
    async with traced_timeout("timeout", 1):
        await trace_outcome("sleep", asyncio.sleep(10))


@scenario
async def timeout_cuts_off_what_takes_too_long():
    """When the deadline passes, the wait is cancelled and the block times out. No request to cancel is left.
    """
    trace("body: %s", await outcome(body()))
    trace("cancelling %d", asyncio.current_task().cancelling())
    await trace_outcome("sleep", asyncio.sleep(1))


async def timeout_does_body():
    async with traced_timeout("timeout", 10):
        asyncio.current_task().cancel()
        await trace_outcome("sleep", asyncio.sleep(10))


@scenario
async def timeout_does_not_claim_a_foreign_cancellation():
    """If another task cancels the block before its deadline, the block is cancelled and does not count as expired.
    """
    task = asyncio.create_task(timeout_does_body())
    trace("task: %s", await outcome(task))
    trace("cancelled %d", task.cancelled())


async def timeout_in_the_past_body():
    async with traced_timeout("timeout", -11):
        trace("begins")
        await trace_outcome("sleep", asyncio.sleep(0))


@scenario
async def timeout_in_the_past_cancels_even_a_yield():
    """A deadline in the past has the same effect as a deadline of now."""
    asyncio.create_task(ticker(5))
    trace("body: %s", await outcome(timeout_in_the_past_body()))


async def inner():
    async with traced_timeout("inner", 1):
        await trace_outcome("first sleep", asyncio.sleep(10))


async def timeout_inside_body():
    async with traced_timeout("outer", 3):
        trace("caught %s", await outcome(inner()))
        await trace_outcome("second sleep", asyncio.sleep(10))


@scenario
async def timeout_inside_comes_before_the_one_outside():
    """If an inner deadline passes first, the inner block times out. The outer block continues until the outer
    deadline passes.
    """
    trace("body: %s", await outcome(timeout_inside_body()))


timeout_is_moved_scope = None


async def timeout_is_moved_body():
    global timeout_is_moved_scope
    async with traced_timeout("timeout", 10) as timeout_is_moved_scope:
        await trace_outcome("sleep", asyncio.sleep(50))


@scenario
async def timeout_is_moved_by_somebody_else():
    """Another task may make the deadline earlier or later, or remove it."""
    task = asyncio.create_task(timeout_is_moved_body())
    await asyncio.sleep(1)
    for when in 20, 4, None:
        trace("deadline %d", timeout_is_moved_scope.when())
        timeout_is_moved_scope.reschedule(when)
    trace("deadline %s", "none" if timeout_is_moved_scope.when() is None else "some")
    await asyncio.sleep(30)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
    task = asyncio.create_task(timeout_is_moved_body())
    await asyncio.sleep(1)
    timeout_is_moved_scope.reschedule(35)
    trace("task: %s", await outcome(task))


async def in_time():
    async with traced_timeout("timeout", 1):
        raise Failure("EIO")


async def late():
    async with traced_timeout("timeout", 1):
        try:
            await trace_outcome("sleep", asyncio.sleep(10))
        finally:
            raise Failure("EPROTO")


@scenario
async def timeout_lets_a_failure_pass():
    """A block that fails on its own returns its failure, before or after the deadline."""
    trace("in time: %s", await outcome(in_time()))
    trace("late: %s", await outcome(late()))
    trace("cancelling %d", asyncio.current_task().cancelling())
    await trace_outcome("sleep", asyncio.sleep(10))


async def timeout_may_body(deadline):
    async with asyncio.timeout_at(deadline) as scope:
        trace("deadline %d", scope.when())
        await trace_outcome("sleep", asyncio.sleep(10))


@scenario
async def timeout_may_be_a_point_of_time():
    """A deadline may be given as a time on the loop's clock."""
    await asyncio.sleep(2)
    trace("body: %s", await outcome(timeout_may_body(5)))
    trace("body: %s", await outcome(timeout_may_body(5)))


async def timeout_of_a_cleanup_cleanup():
    async with traced_timeout("inner", 1):
        await trace_outcome("cleanup", asyncio.sleep(10))


async def timeout_of_a_cleanup_body():
    async with traced_timeout("outer", 1):
        try:
            await trace_outcome("sleep", asyncio.sleep(10))
        finally:
            trace("caught %s", await outcome(timeout_of_a_cleanup_cleanup()))


@scenario
async def timeout_of_a_cleanup_after_a_timeout():
    """If a block times out, and a timeout in its cleanup expires too, the block still returns a timeout.

    Since: 3.12 (and releases of 3.11 that are newer than Debian 12's 3.11.2)
    """
    trace("body: %s", await outcome(timeout_of_a_cleanup_body()))
    await trace_outcome("sleep", asyncio.sleep(1))


async def child():
    try:
        await trace_outcome("child", asyncio.sleep(2))
    finally:
        raise Failure("EIO")


async def timeout_of_a_group_body():
    async with traced_timeout("timeout", 1):
        async with traced_group() as group:
            group.create_task(child())
            await trace_outcome("body", asyncio.sleep(5))


@scenario
async def timeout_of_a_group_whose_child_fails():
    """If a deadline interrupts a group, and a child fails when it is cancelled, the block returns that failure.
    """
    trace("body: %s", await outcome(timeout_of_a_group_body()))
    trace("cancelling %d", asyncio.current_task().cancelling())
    await trace_outcome("sleep", asyncio.sleep(1))


@scenario
async def timeout_of_none_never_comes():
    """A block without a deadline is not interrupted, no matter which call has created the block."""
    async with traced_timeout("none", None) as scope:
        await trace_outcome("sleep", asyncio.sleep(1000))
        trace("deadline %s", "none" if scope.when() is None else "some")
    async with asyncio.timeout_at(None) as scope:
        await trace_outcome("sleep", asyncio.sleep(1000))
    trace("expired %d", scope.expired())


async def timeout_of_two_body():
    async with traced_timeout("outer", 1):
        async with traced_timeout("inner", 1):
            await trace_outcome("sleep", asyncio.sleep(10))


@scenario
async def timeout_of_two_that_pass_together_is_the_outer_one():
    """If the deadlines of two nested blocks pass at the same time, the inner block is cancelled, and only the outer
    block times out.
    """
    trace("body: %s", await outcome(timeout_of_two_body()))


async def timeout_of_zero_cancels_at_the_first_body():
    async with traced_timeout("timeout", 0):
        trace("begins")
        await trace_outcome("sleep", asyncio.sleep(10))


@scenario
async def timeout_of_zero_cancels_at_the_first_wait():
    """With a timeout of 0, the block begins, and its first wait is interrupted."""
    asyncio.create_task(ticker(5))
    trace("body: %s", await outcome(timeout_of_zero_cancels_at_the_first_body()))


async def timeout_of_zero_cancels_even_body():
    async with traced_timeout("timeout", 0):
        trace("begins")
        await trace_outcome("sleep", asyncio.sleep(0))


@scenario
async def timeout_of_zero_cancels_even_a_yield():
    """With a timeout of 0, even a yield is interrupted."""
    asyncio.create_task(ticker(5))
    trace("body: %s", await outcome(timeout_of_zero_cancels_even_body()))


async def timeout_outside_body():
    async with traced_timeout("outer", 1):
        async with traced_timeout("inner", 3):
            await trace_outcome("sleep", asyncio.sleep(10))


@scenario
async def timeout_outside_comes_before_the_one_inside():
    """An outer deadline that passes first cancels the inner block, which has not expired.
    """
    trace("body: %s", await outcome(timeout_outside_body()))
    await trace_outcome("sleep", asyncio.sleep(5))


async def outer():
    trace("caught %s", await outcome(body()))
    await trace_outcome("sleep", asyncio.sleep(1))


@scenario
async def timeout_that_is_caught_leaves_the_task_alone():
    """A task that catches its timeout succeeds, and is not cancelled."""
    task = asyncio.create_task(outer())
    trace("task: %s", await outcome(task))
    trace("done %d, cancelled %d", task.done(), task.cancelled())


@scenario
async def timeout_that_is_not_reached_does_nothing():
    """If a block ends in time, its deadline has no effect."""
    async with traced_timeout("timeout", 3) as scope:
        await trace_outcome("sleep", asyncio.sleep(1))
        trace("deadline %d", scope.when())
    await trace_outcome("sleep", asyncio.sleep(10))


def move(when):
    try:
        timeout_is_moved_scope.reschedule(asyncio.get_running_loop().time() + 2)
        trace("%s: moved", when)
    except RuntimeError:
        trace("%s: refused", when)


async def timeout_that_is_over_body():
    global timeout_is_moved_scope
    async with traced_timeout("timeout", 1) as timeout_is_moved_scope:
        move("inside")
        try:
            await trace_outcome("sleep", asyncio.sleep(10))
        finally:
            move("expiring")


@scenario
async def timeout_that_is_over_cannot_be_moved():
    """A block's deadline cannot be moved once the block is being cancelled, has expired, or has ended.
    """
    global timeout_is_moved_scope
    trace("body: %s", await outcome(timeout_that_is_over_body()))
    move("expired")
    async with traced_timeout("timeout", 1) as timeout_is_moved_scope:
        pass
    move("left")


@scenario
async def timeout_that_meets_a_foreign_cancellation_gives_way():
    """If another task cancels the block in the turn in which its deadline passes, the block has expired, but still
    returns the cancellation.
    """
    task = asyncio.create_task(body())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
    trace("cancelling %d", task.cancelling())
