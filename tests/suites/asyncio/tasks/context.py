"""The contexts in which tasks, callbacks and children run."""

from scenario import *

color = contextvars.ContextVar("color", default="none")


async def context_given_body(value):
    trace("%s finds %s", value, color.get())
    await asyncio.sleep(1)
    color.set(value)


@scenario
async def context_given_to_children_of_a_group():
    """A child of a group can also be spawned with a given context."""
    context = contextvars.copy_context()
    async with asyncio.TaskGroup() as group:
        await group.create_task(context_given_body("red"), context=context)
        await group.create_task(context_given_body("green"), context=context)
        await group.create_task(context_given_body("own"))
        trace("group: %s", color.get())
    trace("context: %s", context.run(color.get))


async def context_is_shared_body(value):
    trace("%s finds %s", value, color.get())
    color.set(value)
    await asyncio.sleep(1)
    trace("%s has %s", value, color.get())


@scenario
async def context_is_shared_by_tasks_that_are_given_it():
    """Tasks that are started in the same context share it, whether they run concurrently or not: each sees the values
    that the others set."""
    color.set("white")
    context = contextvars.copy_context()
    color.set("main's")
    await asyncio.create_task(context_is_shared_body("red"), context=context)
    trace("main: %s, context: %s", color.get(), context.run(color.get))
    await asyncio.gather(asyncio.create_task(context_is_shared_body("green"), context=context),
                         asyncio.create_task(context_is_shared_body("blue"), context=context))
    trace("main: %s, context: %s", color.get(), context.run(color.get))


digits = contextvars.ContextVar("digits", default=2)


def third_of(n):
    scale = 10 ** digits.get()
    return n * scale // 3


async def fractions(seconds, precision):
    token = digits.set(precision)
    before = third_of(1)
    await asyncio.sleep(seconds)
    trace("%d digits: %d, then %d", precision, before, third_of(2))
    digits.reset(token)
    trace("and without: %d", third_of(1))


@scenario
async def context_keeps_the_precision_of_each_task():
    """Two tasks that calculate concurrently do not affect each other's precision."""
    await asyncio.gather(fractions(1, 3), fractions(2, 6))
    trace("main: %d", third_of(1))


def call(how):
    trace("%s: %s", how, color.get())
    color.set("gone")


@scenario
async def context_of_a_call_is_that_of_its_asking():
    """A callback that is scheduled with call_soon, call_later, call_at or call_soon_threadsafe runs in a copy of
    the current context."""
    loop = asyncio.get_running_loop()
    color.set("red")
    loop.call_later(2, call, "later")
    loop.call_at(loop.time() + 1, call, "at")
    loop.call_soon(call, "soon")
    loop.call_soon_threadsafe(call, "post")
    color.set("green")
    loop.call_soon(call, "soon")
    color.set("blue")
    await asyncio.sleep(3)
    trace("main: %s", color.get())


async def context_of_a_child_child():
    trace("child: %s", color.get())
    await asyncio.sleep(2)
    trace("child: %s", color.get())
    color.set("green")
    trace("child: %s", color.get())


@scenario
async def context_of_a_child_is_a_copy():
    """A child begins with the values that the variables have when it is spawned. Neither parent nor child sees what
    the other sets later."""
    early = asyncio.create_task(context_of_a_child_child())
    color.set("red")
    late = asyncio.create_task(context_of_a_child_child())
    await asyncio.sleep(1)
    color.set("blue")
    trace("main: %s", color.get())
    await early
    await late
    trace("main: %s", color.get())


def on_done(future):
    trace("callback: %s", color.get())
    color.set("gone")


async def context_of_a_done_child(future):
    color.set("green")
    future.add_done_callback(on_done)
    await future
    trace("child: %s", color.get())


@scenario
async def context_of_a_done_callback_is_that_of_its_adding():
    """A done callback runs in a copy of the context in which it was added. Values that the callback sets are not
    visible elsewhere."""
    future = new_future()
    color.set("red")
    future.add_done_callback(on_done)
    task = asyncio.create_task(context_of_a_done_child(future))
    color.set("blue")
    await asyncio.sleep(1)
    future.set_result(0)
    await task
    trace("main: %s", color.get())
    future.add_done_callback(on_done)
    color.set("black")
    await turns(1)
    trace("main: %s", color.get())


async def context_of_a_late_child(name):
    await asyncio.sleep(1)
    trace("%s: %s", name, color.get())


async def serve(name):
    token = color.set(name)
    task = asyncio.create_task(context_of_a_late_child(name))
    await asyncio.sleep(0)
    color.reset(token)
    trace("after %s: %s", name, color.get())
    return task


@scenario
async def context_of_a_late_reset_is_its_own():
    """A task that is spawned while a variable is set temporarily inherits this value, and still has it after the
    spawner has reset the variable."""
    red = await serve("red")
    green = await serve("green")
    await red
    await green


number = contextvars.ContextVar("number", default=-1)


async def context_of_many_body(i):
    wrong = 0
    for round in range(3):
        number.set(10 * i + round)
        await asyncio.sleep(1)
        wrong += number.get() != 10 * i + round
    trace("task %d: %d at the end, %d wrong", i, number.get(), wrong)


@scenario
async def context_of_many_tasks_side_by_side():
    """Ten tasks set the same variable, and each sees its own value."""
    number.set(1000)
    await asyncio.gather(*[context_of_many_body(i) for i in range(10)])
    trace("main: %d", number.get())


shape = contextvars.ContextVar("shape", default="none")


def show(what):
    trace("%s: %s, %s", what, color.get(), shape.get())


@scenario
async def context_reset_goes_back_to_the_set_it_is_of():
    """Each reset restores the value from before the corresponding set, nested or not."""
    first = color.set("red")
    second = color.set("green")
    show("set twice")
    color.reset(second)
    show("reset once")
    other = shape.set("round")
    await asyncio.create_task(turns(1))
    shape.set("square")
    color.reset(first)
    show("reset out of order")
    shape.reset(other)
    show("reset all")


def swap(value):
    trace("found %s", color.get())
    color.set(value)
    asyncio.get_running_loop().call_soon(lambda: trace("called soon: %s", color.get()))
    return 3


@scenario
async def context_run_keeps_what_is_set_in_it():
    """A function that runs in a context sees its values, and the values that the function sets stay in that context."""
    color.set("red")
    context = contextvars.copy_context()
    color.set("green")
    trace("returned %d", context.run(swap, "blue"))
    trace("main: %s", color.get())
    trace("returned %d", context.run(swap, "black"))
    await turns(1)
