"""Task groups that are cancelled with TaskGroup.cancel(), which is new in Python 3.15."""

import newer
from scenario import *


async def slow_child():
    try:
        await asyncio.sleep(10)
    finally:
        await trace_outcome("clean-up", asyncio.sleep(3))


async def end_a_group(seconds):
    """Cancel a group after a second, from its body. If `seconds` is not 0, the body then sleeps for that many seconds
    before it leaves the group."""
    async with newer.TaskGroup() as group:
        group.create_task(slow_child())
        await asyncio.sleep(1)
        group.cancel()
        if seconds:
            await trace_outcome("body", asyncio.sleep(seconds))


async def trace_end(seconds):
    await trace_outcome("group", end_a_group(seconds))
    trace("cancelling %d", asyncio.current_task().cancelling())
    await trace_outcome("sleep", asyncio.sleep(1))


@scenario
async def group_ended_early_is_no_failure():
    """The exit of a cancelled group returns when the children have ended, and the owner continues
    without an error."""
    await trace_end(0)
    await trace_end(5)


async def cancel_at_its_exit(seconds):
    task = asyncio.create_task(trace_end(seconds))
    await asyncio.sleep(2)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))


@scenario
async def group_ended_early_does_not_lose_its_owners_cancellation():
    """If another request cancels the owner during the exit of a cancelled group, the exit returns that cancellation.
    (gh-155433)
    """
    await cancel_at_its_exit(0)
    await cancel_at_its_exit(5)


@scenario
async def group_ended_early_does_not_outlive_a_timeout():
    """A timeout that passes during the exit of a cancelled group is reported as a timeout.
    (gh-155433)"""
    for seconds in (0, 5):
        try:
            async with traced_timeout("timeout", 2):
                await trace_end(seconds)
        except TimeoutError:
            pass
        trace("cancelling %d", asyncio.current_task().cancelling())
        await trace_outcome("sleep", asyncio.sleep(1))


async def fail_later():
    await asyncio.sleep(2)
    raise Failure("EIO")


@scenario
async def group_ended_early_inside_one_that_fails():
    """A failing group cancels its owner, even if the owner is in the exit of a cancelled inner
    group. (gh-155433)
    """
    try:
        async with traced_group("outer") as outer:
            outer.create_task(fail_later())
            await trace_end(0)
    except ExceptionGroup:
        trace("cancelling %d", asyncio.current_task().cancelling())
