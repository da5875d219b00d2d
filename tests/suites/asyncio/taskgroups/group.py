"""Task groups: children and cancellation."""

from scenario import *


async def child(name, seconds):
    await trace_outcome(name, asyncio.sleep(seconds))


async def group_cancelled_at_its_exit_owner():
    async with traced_group() as group:
        for name in "abcde":
            group.create_task(child(name, 5))


@scenario
async def group_cancelled_at_its_exit_cancels_its_children():
    """If the owner is cancelled while it waits for its children, the children are cancelled in the order in which they
    started. When they have ended, leaving the group raises CancelledError.
    """
    task = asyncio.create_task(group_cancelled_at_its_exit_owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))


async def group_cancelled_in_its_body_owner():
    async with traced_group() as group:
        for name in "abc":
            group.create_task(child(name, 5))
        await trace_outcome("body", asyncio.sleep(10))


@scenario
async def group_cancelled_in_its_body_cancels_its_children():
    """If the body of a group is cancelled, the children are cancelled when the body leaves the group with this
    cancellation.
    """
    task = asyncio.create_task(group_cancelled_in_its_body_owner())
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))


async def group_child_child():
    trace("child is %s", asyncio.current_task().get_name())
    await asyncio.sleep(0)


@scenario
async def group_child_has_the_name_it_was_given():
    """A child has the name with which it was started."""
    async with traced_group() as group:
        task = group.create_task(group_child_child(), name="yolo")
        trace("it is %s", task.get_name())


async def group_children_come_child(name):
    trace("%d begins", name)
    await trace_outcome(str(name), asyncio.sleep(3))


@scenario
async def group_children_come_and_go_while_the_body_runs():
    """Leaving a group whose children have all ended takes no turn."""
    async with traced_group() as group:
        for name in range(5):
            await asyncio.sleep(1)
            group.create_task(group_children_come_child(name))
        await trace_outcome("body", asyncio.sleep(4))
        asyncio.create_task(ticker(3))


async def leaf(name, seconds):
    await trace_outcome(name, asyncio.sleep(seconds))


async def root(group):
    await trace_outcome("root", asyncio.sleep(1))
    group.create_task(leaf("a", 1))
    group.create_task(leaf("b", 2))


@scenario
async def group_children_may_start_children():
    """A child may start further children of its group. The owner, which is already waiting to leave the group, waits
    for these children too.
    """
    async with traced_group() as group:
        group.create_task(root(group))


var = contextvars.ContextVar("var", default=0)


async def group_children_share_child(value):
    await asyncio.sleep(0)
    trace("child finds %d", var.get())
    var.set(value)


@scenario
async def group_children_share_a_context():
    """Children that share one context see the values that earlier children set."""
    async with traced_group() as group:
        context = contextvars.copy_context()
        for value in 1, 2:
            await group.create_task(group_children_share_child(value), context=context)
            trace("there %d, here %d", context.run(var.get), var.get())


@scenario
async def group_goes_on_when_a_child_is_cancelled():
    """If another task cancels a child, the group does not fail: more children may start, and the group succeeds.
    """
    async with traced_group() as group:
        a = group.create_task(child("a", 10))
        await asyncio.sleep(1)
        trace("cancel a: %d", a.cancel())
        b = group.create_task(child("b", 2))
    trace("a %s, b %s", state(a), state(b))


@scenario
async def group_takes_a_child_while_another_runs():
    """A child may start while other children are running. The group waits for this child too."""
    async with traced_group() as group:
        group.create_task(child("a", 1))
        await trace_outcome("body", asyncio.sleep(2))
        group.create_task(child("b", 3))


async def group_takes_its_request_child():
    await asyncio.sleep(0)
    raise Failure("EIO")


def count(where):
    trace("%s: cancelling %d", where, asyncio.current_task().cancelling())


@scenario
async def group_takes_its_request_to_its_owner_back():
    """The failure of a child cancels the owner. Inside the group, cancelling() counts this request. After the exit of
    the group, the request is no longer counted.
    """
    try:
        async with traced_group() as group:
            group.create_task(group_takes_its_request_child())
            count("body")
            try:
                await trace_outcome("body", asyncio.sleep(10))
            finally:
                count("cancelled body")
    except ExceptionGroup:
        count("after")
    await trace_outcome("sleep", asyncio.sleep(1))


async def nap(name):
    await trace_outcome(name, asyncio.sleep(2))


def try_to_start(group):
    coro = nap("late")
    try:
        group.create_task(coro)
        trace("started")
    except RuntimeError:
        coro.close()
        trace("refused")


@scenario
async def group_that_has_ended_takes_no_child():
    """While the owner waits to leave the group, further children may start until the last child has ended. After that,
    no child can start.
    """
    loop = asyncio.get_running_loop()
    async with traced_group() as group:
        group.create_task(nap("child"))
        loop.call_later(1, try_to_start, group)
    try_to_start(group)
    async with traced_group() as group:
        pass
    try_to_start(group)


async def group_waits_child(name, seconds, result):
    await trace_outcome(name, asyncio.sleep(seconds))
    return result


@scenario
async def group_waits_for_its_children():
    """A group ends when its last child has ended. After that, the children's results are available."""
    async with traced_group() as group:
        a = group.create_task(group_waits_child("a", 1, 42))
        b = group.create_task(group_waits_child("b", 2, 11))
        trace("body: %s %s", state(a), state(b))
    trace("after: %s %s", state(a), state(b))


async def group_without_owner():
    async with traced_group():
        await trace_outcome("body", asyncio.sleep(10))


@scenario
async def group_without_children_is_cancelled_with_its_body():
    """Leaving a group without children takes no turn, even if the owner is cancelled."""
    asyncio.create_task(ticker(4))
    async with traced_group("empty"):
        pass
    task = asyncio.create_task(group_without_owner())
    await turns(2)
    trace("cancel: %d", task.cancel())
    trace("task: %s", await outcome(task))
