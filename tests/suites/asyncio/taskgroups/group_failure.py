"""Task groups in which a child or the body fails."""

import contextlib

from scenario import *


async def child(name, seconds, fails=None):
    await trace_outcome(name, asyncio.sleep(seconds))
    if fails:
        raise Failure(fails)


async def group_adds_nested():
    try:
        await trace_outcome("nested", asyncio.sleep(10))
    finally:
        raise Failure("EPROTO")


async def group_adds_owner():
    async with traced_group() as group:
        group.create_task(child("child", 1, "EIO"))
        await group_adds_nested()


@scenario
async def group_adds_its_bodys_failure_to_a_childs():
    """The failure of a child cancels the body, which then fails with another error. The group returns both failures,
    the child's first.
    """
    trace("owner: %s", await outcome(asyncio.create_task(group_adds_owner())))


async def group_cancelled_child(name):
    try:
        await trace_outcome(name, asyncio.sleep(10))
    finally:
        raise Failure("EIO")


async def group_cancelled_owner():
    async with traced_group() as group:
        for name in "abc":
            group.create_task(group_cancelled_child(name))
        await trace_outcome("body", asyncio.sleep(10))


@scenario
async def group_cancelled_returns_what_its_children_fail_with():
    """If children fail when they are cancelled, the group returns these failures instead of the cancellation.
    """
    task = asyncio.create_task(group_cancelled_owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))


async def group_cancels_owner():
    async with traced_group() as group:
        group.create_task(child("a", 1, "EIO"))
        b = group.create_task(child("b", 10))
        b.add_done_callback(lambda b: trace("b is %s", state(b)))
    trace("never printed")


@scenario
async def group_cancels_the_siblings_of_a_child_that_fails():
    """A child's failure cancels its siblings. The group returns the failure when the siblings have ended.
    """
    trace("owner: %s", await outcome(group_cancels_owner()))


async def group_child_owner():
    async with traced_group() as group:
        group.create_task(child("child", 3, "EIO"))
        try:
            await trace_outcome("body", asyncio.sleep(10))
        except asyncio.CancelledError:
            await trace_outcome("cleanup", asyncio.sleep(5))
            raise


@scenario
async def group_child_fails_while_the_body_cleans_up():
    """If a child fails while the cancelled owner of the group is cleaning up, the cleanup is interrupted, and the group
    returns the failure.
    """
    task = asyncio.create_task(group_child_owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))


@contextlib.asynccontextmanager
async def database():
    try:
        yield
    finally:
        trace("closes")
        raise Failure("EPROTO")


async def group_collects_the_failure_child():
    raise Failure("EIO")


async def group_collects_the_failure_owner():
    try:
        async with traced_group() as group:
            async with database():
                group.create_task(group_collects_the_failure_child())
                await trace_outcome("body", asyncio.sleep(1))
    finally:
        trace("cancelling %d", asyncio.current_task().cancelling())


@scenario
async def group_collects_the_failure_of_a_cleanup():
    """If a child fails, and the cleanup of the cancelled body then fails too, the group returns both failures, and no
    request to cancel is left.
    """
    trace("owner: %s", await outcome(group_collects_the_failure_owner()))


async def group_collects_the_failures_owner():
    async with traced_group() as group:
        for name in "abc":
            group.create_task(child(name, 1, "EIO"))
        group.create_task(child("d", 5))
        await trace_outcome("body", asyncio.sleep(10))


@scenario
async def group_collects_the_failures_of_one_turn():
    """If several children fail in the same turn, the group returns all of these failures. The body and the other
    children are cancelled only once.
    """
    trace("owner: %s", await outcome(group_collects_the_failures_owner()))
    trace("cancelling: %d", asyncio.current_task().cancelling())


event = asyncio.Event()


async def group_failure_does_child():
    event.set()
    await asyncio.sleep(0)
    raise Failure("EIO")


def count(where):
    trace("%s: cancelling %d", where, asyncio.current_task().cancelling())


async def inner():
    try:
        async with traced_group() as group:
            group.create_task(group_failure_does_child())
            await trace_outcome("body", asyncio.sleep(1))
    except ExceptionGroup:
        count("after")
    await trace_outcome("sleep", asyncio.sleep(1))


@scenario
async def group_failure_does_not_swallow_a_cancellation():
    """If another task cancels the owner in the turn in which a child fails, the group returns the child's failure, and
    the owner's next wait returns the cancellation.

    Since: 3.13
    """
    task = asyncio.create_task(inner())
    await event.wait()
    trace("cancelling %d", task.cancelling())
    trace("cancel: %d", task.cancel())
    trace("cancelling %d", task.cancelling())
    trace("task: %s", await outcome(task))


async def group_failure_inside_owner():
    async with traced_group("outer") as outer:
        outer.create_task(child("outer child", 10, "EPROTO"))
        async with traced_group("inner") as inner:
            inner.create_task(child("inner child", 1, "EIO"))


@scenario
async def group_failure_inside_cancels_the_group_outside():
    """A failure of a nested group is a failure in the body of the outer group, and cancels the children of the outer
    group.
    """
    trace("owner: %s", await outcome(asyncio.create_task(group_failure_inside_owner())))


async def group_failure_outside_owner():
    async with traced_group("outer") as outer:
        outer.create_task(child("outer child", 1, "EIO"))
        async with traced_group("inner") as inner:
            inner.create_task(child("inner child", 10, "EPROTO"))


@scenario
async def group_failure_outside_cancels_the_group_inside():
    """If a child of the outer group fails while the owner is waiting in the nested group, the nested group is
    cancelled. Only the child's failure is returned.
    """
    trace("owner: %s", await outcome(asyncio.create_task(group_failure_outside_owner())))


async def sleeper(name):
    await trace_outcome(name, asyncio.sleep(10))


async def group_in_a_group_fails_owner():
    async with traced_group("outer") as outer:
        outer.create_task(sleeper("outer child"))
        async with traced_group("inner") as inner:
            for name in "ab":
                inner.create_task(group_cancelled_child(name))
            await trace_outcome("body", asyncio.sleep(10))


@scenario
async def group_in_a_group_fails_and_cancels_the_outer_children():
    """The outer group's children are not cancelled until the nested group has exited with its failure.
    """
    task = asyncio.create_task(group_in_a_group_fails_owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))


async def group_in_a_group_hands_owner():
    async with traced_group("outer"):
        async with traced_group("inner") as inner:
            for name in "abc":
                inner.create_task(group_cancelled_child(name))
            await trace_outcome("body", asyncio.sleep(10))


@scenario
async def group_in_a_group_hands_its_failures_outward():
    """If children of a nested group fail when the group is cancelled, both groups return these failures."""
    task = asyncio.create_task(group_in_a_group_hands_owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))


async def group_in_an_awaited_nested():
    async with traced_group() as group:
        group.create_task(child("child", 3, "EIO"))
        try:
            await trace_outcome("body", asyncio.sleep(10))
        except asyncio.CancelledError:
            await trace_outcome("cleanup", asyncio.sleep(5))
            raise


async def group_in_an_awaited_owner():
    await trace_outcome("nested", asyncio.create_task(group_in_an_awaited_nested()))


@scenario
async def group_in_an_awaited_task_fails_while_it_cleans_up():
    """If a task is cancelled while it awaits the owner of a group, and a child fails while the owner is cleaning up,
    the awaiting task gets the child's failure.
    """
    task = asyncio.create_task(group_in_an_awaited_owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))


async def group_inside_child(error):
    await asyncio.sleep(0)
    raise Failure(error)


@scenario
async def group_inside_and_outside_fail_in_one_turn():
    """If two nested groups fail in the same turn, the inner group returns its own failure, and the owner remains
    cancelled by the outer group until it leaves that group too.

    Since: 3.13
    """
    try:
        async with traced_group("outer") as outer:
            try:
                async with traced_group("inner") as inner:
                    inner.create_task(group_inside_child("EIO"))
                    outer.create_task(group_inside_child("EPROTO"))
            except ExceptionGroup:
                count("between")
    except ExceptionGroup:
        count("after")


async def failing():
    await asyncio.sleep(1)
    raise Failure("EIO")


def try_to_start(who, group):
    coro = failing()
    try:
        group.create_task(coro)
        trace("%s: started", who)
    except RuntimeError:
        coro.close()
        trace("%s: refused", who)


async def sibling(group):
    try:
        await trace_outcome("sibling", asyncio.sleep(10))
    finally:
        try_to_start("sibling", group)


async def group_that_is_failing_owner():
    async with traced_group() as group:
        group.create_task(failing())
        group.create_task(sibling(group))
        try:
            await trace_outcome("body", asyncio.sleep(10))
        finally:
            try_to_start("body", group)


@scenario
async def group_that_is_failing_takes_no_child():
    """Once a child has failed, no further child can be started, neither by siblings that are cancelled nor by the body.
    """
    trace("owner: %s", await outcome(group_that_is_failing_owner()))


heads = 0


async def spawn_two_more(group):
    global heads
    heads += 1
    trace("head %d", heads)
    await asyncio.sleep(2)
    group.create_task(spawn_two_more(group))
    group.create_task(spawn_two_more(group))


async def fail_after_ten():
    while heads < 10:
        await asyncio.sleep(3)
    trace("enough")
    raise Failure("EIO")


async def group_that_keeps_owner():
    async with traced_group() as group:
        group.create_task(spawn_two_more(group))
        group.create_task(fail_after_ten())


@scenario
async def group_that_keeps_growing_ends_with_a_failure():
    """Even if each child starts two more children, without end, the failure of one child stops them all."""
    trace("owner: %s", await outcome(group_that_keeps_owner()))
    trace("heads: %d", heads)


tasks = []


async def group_whose_body_fails_at_once_child():
    trace("never printed")


async def group_whose_body_fails_at_once_owner():
    async with traced_group() as group:
        for _ in range(2):
            tasks.append(group.create_task(group_whose_body_fails_at_once_child()))
        raise Failure("EIO")


@scenario
async def group_whose_body_fails_at_once_begins_no_child():
    """If the body fails before its first wait, the children never begin."""
    asyncio.create_task(ticker(5))
    trace("owner: %s", await outcome(group_whose_body_fails_at_once_owner()))
    trace("children %s %s", state(tasks[0]), state(tasks[1]))


async def group_whose_body_fails_cancels_child(name, seconds):
    await trace_outcome(name, asyncio.sleep(seconds))


async def group_whose_body_fails_cancels_owner():
    async with traced_group() as group:
        group.create_task(group_whose_body_fails_cancels_child("a", 5))
        group.create_task(group_whose_body_fails_cancels_child("b", 6))
        await trace_outcome("body", asyncio.sleep(1))
        raise Failure("EIO")


@scenario
async def group_whose_body_fails_cancels_its_children():
    """If the body fails after the children have begun, they are cancelled. The group returns the failure when they have
    ended.
    """
    trace("owner: %s", await outcome(group_whose_body_fails_cancels_owner()))


async def group_whose_body_makes_owner():
    try:
        async with traced_group():
            try:
                await trace_outcome("body", asyncio.sleep(10))
            except asyncio.CancelledError:
                raise Failure("EIO")
    finally:
        trace("cancelling: %d", asyncio.current_task().cancelling())


@scenario
async def group_whose_body_makes_a_failure_of_a_cancellation():
    """If the body fails when it is cancelled, the group returns the failure. The request to cancel is still counted.
    """
    task = asyncio.create_task(group_whose_body_makes_owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
