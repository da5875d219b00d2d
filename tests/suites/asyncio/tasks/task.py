"""How tasks begin, take turns, sleep and end."""

from scenario import *


def look():
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    trace("tasks: %s", " ".join(sorted(task.get_name() for task in tasks)))


@scenario
async def all_tasks_are_those_that_have_not_ended():
    """The list of all tasks contains waiting tasks and tasks that have not begun, but no task that
    has ended."""
    future = new_future()
    for i in range(1, 4):
        asyncio.create_task(asyncio.sleep(i), name="sleeper-%d" % i)
    look()

    async def body():
        await future

    waiter = asyncio.create_task(body(), name="waiter")
    await asyncio.sleep(2)
    look()
    future.set_result(0)
    look()
    await turns(1)
    look()
    await asyncio.sleep(1)
    look()
    trace("waiter: %s", state(waiter))


class Countdown:
    def __init__(self, ticks):
        self.ticks = ticks

    def __await__(self):
        while self.ticks > 0:
            trace("countdown: %d", self.ticks)
            self.ticks -= 1
            yield
        return 99


async def awaitable_of_ones_body(countdown):
    return await countdown


@scenario
async def awaitable_of_ones_own_waits_inside_its_task():
    """A user-defined awaitable waits in several steps, between which other tasks run, and then returns a result."""
    ticks = asyncio.create_task(ticker(3))
    trace("awaited: %s", await outcome(Countdown(2)))
    task = asyncio.create_task(awaitable_of_ones_body(Countdown(2)))
    await turns(1)
    trace("cancel: %s", result_of(task.cancel()))
    trace("in a task: %s", await outcome(task))
    await ticks


async def callback_of_a_task_body(i):
    await asyncio.sleep(2)
    trace("body %d ends", i)
    if i == 1:
        raise Failure("EIO")
    return i


@scenario
async def callback_of_a_task_sees_how_it_ended():
    """The callbacks of a task are called in the turn after it has ended, whether it has succeeded, failed or been
    cancelled."""
    tasks = [asyncio.create_task(callback_of_a_task_body(i)) for i in range(3)]
    for i, task in enumerate(tasks):
        task.add_done_callback(lambda t, i=i: trace("callback %d: %s", i, state(t)))
    await asyncio.sleep(1)
    trace("cancel: %s", result_of(tasks[2].cancel()))
    done, _ = await asyncio.wait(tasks)
    trace("done: %d", len(done))


async def one(mine, other):
    trace("one: %s", asyncio.current_task().get_name())
    await mine
    trace("one: %s", asyncio.current_task().get_name())
    other.set_result(True)


async def two(mine, other):
    trace("two: %s", asyncio.current_task().get_name())
    other.set_result(True)
    await mine
    trace("two: %s", asyncio.current_task().get_name())


@scenario
async def current_task_changes_with_each_switch():
    """Two tasks wake each other through futures. Whenever one of them runs, it is the current task."""
    first, second = new_future(), new_future()
    tasks = [asyncio.create_task(one(first, second), name="a"),
             asyncio.create_task(two(second, first), name="b")]  # fmt: skip
    done, _ = await asyncio.wait(tasks)
    trace("done: %d", len(done))


def name_of_current():
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return "none"
    return task.get_name() if task else "none"


async def current_task_is_the_one_that_runs_body():
    trace("in a task: %s", name_of_current())
    asyncio.get_running_loop().call_soon(
        lambda: trace("in a callback: %s", name_of_current()))  # fmt: skip
    await asyncio.sleep(0)
    trace("in a task: %s", name_of_current())
    return 3


@scenario
def current_task_is_the_one_that_runs():
    """While a task runs, it is the current task. In callbacks and outside the loop there is no current task."""
    loop = VirtualLoop()
    trace("outside: %s", name_of_current())
    task = loop.create_task(current_task_is_the_one_that_runs_body(), name="worker")
    trace("outside: %s", name_of_current())
    trace("result: %d", loop.run_until_complete(task))
    trace("outside: %s", name_of_current())
    loop.close()


async def failure_is_not_reported_body():
    raise Failure("EIO")


@scenario
async def failure_is_not_reported_after_cancel():
    """A failure that is never retrieved is reported, unless the failed task was cancelled later."""
    asyncio.get_running_loop().set_exception_handler(trace_exception)
    for cancels in True, False:
        trace("cancels" if cancels else "leaves it")
        task = asyncio.create_task(failure_is_not_reported_body())
        await asyncio.sleep(1)
        if cancels:
            trace("cancel: %s", result_of(task.cancel()))
        task = None
        trace("gone")


async def future_set_by_a_callback_body():
    future = new_future()
    asyncio.get_running_loop().call_soon(lambda: future.set_result(11))
    return await trace_outcome("body", future)


@scenario
async def future_set_by_a_callback_wakes_its_task():
    """If a callback sets the future that a task awaits, the callback runs in the next turn and the task in the turn
    after it."""
    task = asyncio.create_task(future_set_by_a_callback_body())
    ticks = asyncio.create_task(ticker(4))
    trace("awaited: %s", await outcome(task))
    await ticks


async def future_set_by_a_timer_body(future):
    await trace_outcome("future", future)
    return 7


@scenario
async def future_set_by_a_timer_wakes_its_task():
    """A timer sets the future that a task awaits, and the task continues at that time."""
    future = new_future()
    asyncio.get_running_loop().call_later(3, future.set_result, 1)
    task = asyncio.create_task(future_set_by_a_timer_body(future))
    await asyncio.sleep(2)
    trace("future %s, task %s", state(future), state(task))
    trace("awaited: %s", await outcome(task))


@scenario
async def sleep_of_zero_runs_what_was_called_soon():
    """A sleep of zero takes one turn. Callbacks that were scheduled before the sleep run before it returns."""
    loop = asyncio.get_running_loop()
    result = 0

    def add(number):
        nonlocal result
        result += number
        trace("now %d", result)
        if number == 1:
            loop.call_soon(add, 100)

    loop.call_soon(add, 1)
    trace("before: %d", result)
    await asyncio.sleep(0)
    trace("after one: %d", result)
    await asyncio.sleep(0)
    trace("after two: %d", result)


@scenario
async def sleep_returns_after_its_delay():
    """A sleep takes exactly its delay on the loop's clock."""
    trace("sleeps")
    trace("slept: %s", await outcome(asyncio.sleep(3)))


async def sleeps_add_body():
    for _ in range(2):
        await trace_outcome("slept", asyncio.sleep(2))
    return 7


@scenario
async def sleeps_add_up():
    """Two consecutive sleeps take exactly the sum of their delays on the loop's clock."""
    task = asyncio.create_task(sleeps_add_body())
    await asyncio.sleep(3)
    trace("state: %s", state(task))
    trace("awaited: %s", await outcome(task))


async def sleeps_of_one_deadline_body(name, delay):
    await asyncio.sleep(delay)
    trace("%s after %d", name, delay)


@scenario
async def sleeps_of_one_deadline_wake_in_their_order():
    """Sleeping tasks wake in the order of their deadlines. Tasks with equal deadlines wake in the order in which they
    began to sleep."""
    delays = [("a", 2), ("b", 1), ("c", 2), ("d", 0), ("e", 1), ("f", -1)]
    tasks = [asyncio.create_task(sleeps_of_one_deadline_body(*each)) for each in delays]
    await asyncio.wait(tasks)


count = 0


async def stopped_loop_body(loop):
    global count
    while count < 5:
        await asyncio.sleep(1)
        count += 1
        trace("counts %d", count)
        if count == 2:
            loop.stop()
    return count


@scenario
def stopped_loop_leaves_its_task_pending():
    """If a loop is stopped, its tasks continue to wait, and resume when the loop runs again."""
    loop = VirtualLoop()
    task = loop.create_task(stopped_loop_body(loop))
    try:
        loop.run_until_complete(task)
    except RuntimeError:
        trace("stopped at %d: %s", count, state(task))
    trace("again: %d", loop.run_until_complete(task))
    trace("task: %s", state(task))
    loop.close()


async def task_end_body(future):
    await trace_outcome("body", future)
    return 4


async def waiter(i, task):
    trace("waiter %d: %s", i, await outcome(task))


@scenario
async def task_end_wakes_its_awaiters_in_the_next_turn():
    """All awaiters of a task continue one turn after its end. Tasks that await the ended task later do not wait at
    all."""
    future = new_future()
    task = asyncio.create_task(task_end_body(future))
    waiters = [asyncio.create_task(waiter(i, task)) for i in range(3)]
    await turns(1)
    ticks = asyncio.create_task(ticker(3))
    await turns(1)
    future.set_result(0)
    await ticks
    trace("late: %s", await outcome(task))
    trace("waiters: %s %s %s", *map(state, waiters))


async def task_goes_body(future):
    value = await future
    trace("got %s", value)


@scenario
async def task_goes_on_with_the_value_of_its_future():
    """A future wakes its awaiting task in the next turn, with its value."""
    future = new_future()
    task = asyncio.create_task(task_goes_body(future))
    await turns(1)
    future.set_result("a value")
    trace("set: task %s", state(task))
    await turns(1)
    trace("one turn later: task %s", state(task))


async def giver():
    future = new_future()
    asyncio.get_running_loop().call_later(2, future.set_result, 9)
    return future


@scenario
async def task_hands_out_a_future_without_awaiting_it():
    """If a task returns a future, the task ends without waiting for it. The parent awaits the future."""
    task = asyncio.create_task(giver())
    future = await task
    trace("the task is done; the future: %s", state(future))
    trace("the future: %s", await outcome(future))


async def task_has_the_name_body():
    task = asyncio.current_task()
    trace("begins as %s", task.get_name())
    await asyncio.sleep(1)
    trace("goes on as %s", task.get_name())


@scenario
async def task_has_the_name_it_was_given():
    """A task's name is the same when read by the task or by other tasks, and may be changed."""
    task = asyncio.create_task(task_has_the_name_body(), name="no-op")
    trace("created: %s", task.get_name())
    await turns(1)
    task.set_name("op")
    trace("renamed: %s", task.get_name())
    await task
    trace("ended: %s", task.get_name())


async def forgotten(future):
    for i in range(3):
        await asyncio.sleep(1)
        trace("step %d", i)
    future.set_result(3)


@scenario
async def task_nobody_holds_runs_to_its_end():
    """A task to which no reference exists still runs to its end, as long as something can wake it."""
    future = new_future()
    asyncio.create_task(forgotten(future))
    trace("started")
    trace("future: %s", await outcome(future))


child_task = None


async def child():
    await asyncio.sleep(2)
    trace("child ends")
    return 6


async def parent():
    global child_task
    child_task = asyncio.create_task(child())
    await asyncio.sleep(1)
    trace("parent ends")


@scenario
async def task_outlives_the_parent_that_started_it():
    """When a parent returns, its child continues to run. Another task may await the child."""
    task = asyncio.create_task(parent())
    trace("parent: %s", await outcome(task))
    trace("cancel the parent: %s", result_of(task.cancel()))
    trace("child: %s, counted %d", state(child_task), child_task.cancelling())
    trace("child: %s", await outcome(child_task))


async def inner(value):
    trace("inner %d begins", value)
    await asyncio.sleep(1)
    return value


async def outer():
    left = await asyncio.create_task(inner(42))
    trace("got %d", left)
    right = await asyncio.create_task(inner(1000))
    trace("got %d", right)
    return left + right


@scenario
async def task_results_are_added_up():
    """A task awaits two others one after the other, and returns a result computed from their results."""
    task = asyncio.create_task(outer())
    trace("before: %s", state(task))
    trace("sum: %s", await outcome(task))


async def task_runs_body(delay):
    trace("begins")
    await asyncio.sleep(delay)
    trace("ends")
    return delay


@scenario
def task_runs_on_the_loop_it_was_made_for():
    """If several loops run one after the other, each with its own task, the result of a task can still be read when its
    loop is closed."""
    tasks = []
    for delay in 2, 3:
        loop = VirtualLoop()
        tasks.append(loop.create_task(task_runs_body(delay)))
        trace("result: %d", loop.run_until_complete(tasks[-1]))
        loop.close()
    trace("kept: %s %s", *map(state, tasks))


async def tasks_begin_body(name, children):
    trace("%s begins", name)
    tasks = [asyncio.create_task(tasks_begin_body(name + str(i), 0)) for i in range(children)]
    await asyncio.sleep(0)
    trace("%s goes on", name)
    for task in tasks:
        await task


@scenario
async def tasks_begin_in_the_order_of_their_making():
    """New tasks and callbacks start in the order in which they were created and scheduled. The children of these tasks
    start after all of them."""
    loop = asyncio.get_running_loop()
    first = asyncio.create_task(tasks_begin_body("a", 2))
    loop.call_soon(trace, "a callback")
    second = asyncio.create_task(tasks_begin_body("b", 1))
    trace("made")
    await first
    await second


async def player(name, balls, i):
    while i < 6:
        await balls[i]
        trace("%s catches ball %d", name, i)
        balls[i + 1].set_result(0)
        i += 2


@scenario
async def tasks_hand_a_ball_to_each_other():
    """Two tasks that wake each other through futures take one turn per wakeup, and other tasks run between the
    wakeups."""
    balls = [new_future() for _ in range(7)]
    tasks = [asyncio.create_task(player("left", balls, 0)),
             asyncio.create_task(player("right", balls, 1)),
             asyncio.create_task(ticker(7))]  # fmt: skip
    await turns(1)
    balls[0].set_result(0)
    trace("service")
    await asyncio.wait(tasks)
    trace("the last ball: %s", state(balls[6]))
