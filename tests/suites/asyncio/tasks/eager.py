"""Eager tasks, which run their first step inside the call that spawns them."""

from scenario import *


async def count(depth):
    return 1 + await eager_task(count(depth - 1)) if depth > 0 else 0


@scenario
async def eager_chain_of_awaits_takes_no_turn():
    """If each task in a chain spawns a child eagerly and awaits it, and no task waits for anything else, the whole
    chain takes no turn.

    Since: 3.12
    """
    asyncio.create_task(ticker(2))
    await trace_outcome("a hundred deep", eager_task(count(100)))
    await turns(2)


async def eager_child_awaits_child(spawner):
    trace("child waits")
    trace("child: %s", await outcome(spawner))


async def spawner():
    eager_task(eager_child_awaits_child(asyncio.current_task()))
    trace("spawner goes on")
    await asyncio.sleep(1)
    return 8


@scenario
async def eager_child_awaits_its_spawner():
    """An eager child may await its spawner, even before the spawner has a reference to the child.

    Since: 3.12
    """
    await trace_outcome("spawner", asyncio.create_task(spawner()))
    await turns(1)


async def eager_child_cancels_its_spawner_child(spawner):
    trace("cancel: %d", spawner.cancel())


@scenario
async def eager_child_cancels_its_spawner():
    """If an eager child cancels its spawner, the next wait of the spawner is cancelled.

    Since: 3.12
    """
    me = asyncio.current_task()
    asyncio.create_task(ticker(2))
    eager_task(eager_child_cancels_its_spawner_child(me))
    trace("requests: %d", me.cancelling())
    trace("waits: %s", await outcome(asyncio.sleep(5)))
    trace("left: %d", me.uncancel())
    trace("waits: %s", await outcome(asyncio.sleep(5)))


async def eager_child_cancels_itself_child():
    asyncio.current_task().cancel()
    trace("child waits")
    trace("child: %s", await outcome(asyncio.sleep(5)))
    raise asyncio.CancelledError


@scenario
async def eager_child_cancels_itself():
    """If an eager child cancels itself before its first wait, its spawner continues as usual, and then that wait
    returns the cancellation.

    Since: 3.12
    """
    asyncio.create_task(ticker(2))
    task = eager_task(eager_child_cancels_itself_child())
    trace("spawned: %s", state(task))
    trace("awaited: %s", await outcome(task))


async def eager_child_fails_child():
    trace("child fails")
    raise Failure("EIO")


@scenario
async def eager_child_fails_at_once():
    """The failure of an eager child is returned to its awaiter, not to its spawner.

    Since: 3.12
    """
    task = eager_task(eager_child_fails_child())
    trace("spawned: %s", state(task))
    trace("gathered: %s", await outcome(asyncio.gather(task, asyncio.sleep(1))))
    trace("awaited: %s", await outcome(task))


color = contextvars.ContextVar("color", default="none")


async def eager_child_has_a_context_child():
    trace("child: %s", color.get())
    color.set("green")
    await asyncio.sleep(1)
    trace("child: %s", color.get())
    color.set("blue")


@scenario
async def eager_child_has_a_context_of_its_own():
    """An eager child begins with the values of its spawner. The spawner does not see the values
    that the child sets.

    Since: 3.12
    """
    color.set("red")
    task = eager_task(eager_child_has_a_context_child())
    trace("main: %s", color.get())
    await task
    trace("main: %s", color.get())


def look(who):
    names = sorted(task.get_name() for task in asyncio.all_tasks())
    trace("%s sees %s", who, " ".join(names))


async def eager_child_is_among_child():
    look("child")


@scenario
async def eager_child_is_among_all_tasks_while_it_runs():
    """An eager child that does not wait is in the list of all tasks only while it runs.

    Since: 3.12
    """
    asyncio.current_task().set_name("main")
    eager_task(eager_child_is_among_child(), name="nimble")
    look("main")


async def eager_child_is_cancelled_child():
    trace("child waits")
    try:
        await asyncio.sleep(9)
    except asyncio.CancelledError as error:
        trace("child is cancelled: %s", error.args[0])
        raise


@scenario
async def eager_child_is_cancelled_where_it_waits():
    """If an eager child is cancelled while it waits, that wait returns the cancellation and its reason.

    Since: 3.12
    """
    task = eager_task(eager_child_is_cancelled_child())
    trace("cancel: %d", task.cancel("changed my mind"))
    trace("requests: %d, %s", task.cancelling(), state(task))
    trace("awaited: %s", await outcome(task))


def current():
    task = asyncio.current_task()
    return task.get_name() if task else "none"


async def eager_child_is_the_current_child():
    trace("begins: %s", current())
    await asyncio.sleep(1)
    trace("goes on: %s", current())


@scenario
async def eager_child_is_the_current_task_while_it_runs():
    """While an eager child runs, it is the current task. When the spawn returns, the current task is the spawner
    again.

    Since: 3.12
    """
    asyncio.current_task().set_name("main")
    trace("before: %s", current())
    task = eager_task(eager_child_is_the_current_child(), name="child")
    trace("after: %s", current())
    await task
    trace("at the end: %s", current())


async def eager_child_of_a_callback_child():
    trace("child begins")
    await asyncio.sleep(0)
    trace("child goes on")


@scenario
async def eager_child_of_a_callback():
    """If a callback spawns eagerly, the child runs inside the callback.

    Since: 3.12
    """
    def callback():
        trace("callback begins")
        eager_task(eager_child_of_a_callback_child())
        trace("callback ends, current task: %d", asyncio.current_task() is not None)

    asyncio.create_task(ticker(3))
    asyncio.get_running_loop().call_soon(callback)
    await turns(3)


async def setter(future):
    trace("child sets")
    future.set_result(4)


@scenario
async def eager_child_sets_what_its_spawner_awaits():
    """A result that a child sets before its first wait is available to its spawner at once.

    Since: 3.12
    """
    future = new_future()
    task = eager_task(setter(future))
    trace("child: %s, future: %s", state(task), state(future))
    await trace_outcome("awaited", future)


async def eager_child_that_does_child():
    trace("child")
    return 5


@scenario
async def eager_child_that_does_not_wait_takes_no_turn():
    """An eager child that does not wait has ended when the spawn returns, so awaiting the child takes no turn.

    Since: 3.12
    """
    asyncio.create_task(ticker(3))
    task = eager_task(eager_child_that_does_child())
    trace("spawned: %s", state(task))
    await trace_outcome("awaited", task)
    trace("yields")
    await turns(2)


async def eager_child_that_has_ended_child():
    return 7


@scenario
async def eager_child_that_has_ended_cannot_be_cancelled():
    """Cancelling an eager child that has ended has no effect.

    Since: 3.12
    """
    task = eager_task(eager_child_that_has_ended_child())
    trace("cancel: %d", task.cancel())
    trace("requests: %d", task.cancelling())
    await trace_outcome("awaited", task)
    trace("cancelled: %d", task.cancelled())


async def eager_child_that_waits_hands_child():
    trace("child begins")
    await asyncio.sleep(2)
    trace("child goes on")
    return 6


@scenario
async def eager_child_that_waits_hands_back_to_its_spawner():
    """An eager child runs until it waits; then its spawner continues.

    Since: 3.12
    """
    task = eager_task(eager_child_that_waits_hands_child())
    trace("spawned: %s", state(task))
    await asyncio.sleep(1)
    trace("a second later: %s", state(task))
    await trace_outcome("awaited", task)


async def eager_child_that_waits_stays_child(future):
    look("child")
    await future
    look("child")


@scenario
async def eager_child_that_waits_stays_among_all_tasks():
    """An eager child that waits is in the list of all tasks until it has ended.

    Since: 3.12
    """
    asyncio.current_task().set_name("main")
    future = new_future()
    task = eager_task(eager_child_that_waits_stays_child(future), name="patient")
    look("main")
    future.set_result(0)
    await task
    look("main")


async def body(name):
    trace("%s begins", name)
    await asyncio.sleep(0)
    trace("%s goes on", name)


@scenario
async def eager_children_keep_their_place_in_the_ready_queue():
    """An eager child that yields is queued behind the tasks that are ready at that time, and
    before tasks that become ready later.

    Since: 3.12
    """
    tasks = [asyncio.create_task(body("a")), eager_task(body("b")),
             asyncio.create_task(body("c")), eager_task(body("d"))]  # fmt: skip
    trace("spawned")
    await asyncio.gather(*tasks)
    trace("gathered")


async def eager_children_of_a_group_child(seconds):
    trace("child of %d s begins", seconds)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        trace("child of %d s is cancelled", seconds)
        raise
    raise Failure("EIO")


@scenario
async def eager_children_of_a_group_fail_later():
    """If an eager child of a group waits and then fails, the other children are cancelled, as for any other child.

    Since: 3.12
    """
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(eager_children_of_a_group_child(1))
            group.create_task(eager_children_of_a_group_child(2))
            trace("body waits")
            await asyncio.sleep(5)
    except* Failure as failures:
        trace("failures: %d", len(failures.exceptions))


begun = 0


async def eager_gathers_branch(depth):
    global begun
    begun += 1
    if depth > 0:
        await asyncio.gather(*[eager_task(eager_gathers_branch(depth - 1)) for _ in range(3)])


@scenario
async def eager_gathers_within_gathers_take_no_turn():
    """Nested gathers of children that ended during their spawn take no turn.

    Since: 3.12
    """
    asyncio.create_task(ticker(2))
    await trace_outcome("outermost", eager_gathers_branch(3))
    trace("children: %d", begun)
    await turns(2)


async def level(depth):
    trace("%d begins", depth)
    task = eager_task(level(depth - 1)) if depth > 1 else None
    trace("%d waits", depth)
    await asyncio.sleep(depth)
    trace("%d goes on", depth)
    if task:
        await task


@scenario
async def eager_grandchildren_begin_before_their_parents_wait():
    """Eager children may spawn eager children. When a child waits, its own spawner continues.

    Since: 3.12
    """
    task = eager_task(level(3))
    trace("main waits")
    await task


DEPTH = 4


async def eager_groups_branch(depth):
    global begun
    begun += 1
    if depth == 0:
        return
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(eager_groups_branch(depth - 1))


@scenario
async def eager_groups_within_groups():
    """Eager children may contain groups of eager children. If none of them waits for anything else, each child ends
    during its spawn.

    Since: 3.12
    """
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    trace("begins")
    await trace_outcome("outermost", eager_groups_branch(DEPTH))
    trace("children: %d", begun)


async def eager_task_child():
    trace("child")
    return 9


@scenario
def eager_task_made_before_the_loop_runs_begins_with_it():
    """Before the loop runs there is no spawner to return to, so an eager task begins in the first
    turn.

    Since: 3.12
    """
    loop = VirtualLoop()
    task = asyncio.Task(eager_task_child(), loop=loop, eager_start=True)
    trace("made: %s", state(task))
    trace("result: %s", loop.run_until_complete(task))
    loop.close()
