"""Functions for scenarios that tests/suites/judge generated, in addition to scenario.py. judged.h is the C counterpart.

A program of the judge consists of tasks that start each other, and a driver. Every 1000 seconds, the driver cancels the
remaining tasks in the order in which they started, and unlocks all locks. A task writes a line to the trace after each
action.
"""

import asyncio
import functools
from asyncio import staggered

import newer
from scenario import *

QueueShutDown = getattr(asyncio, "QueueShutDown", Failure)

started = []
callbacks, handles = {}, {}


class Task:
    """A task of the judge's program, which may not have started yet."""

    def __init__(self, run):
        self.run, self.name = run, run.__name__
        self.task = self.parking = None
        self.raced = False  # a race starts this task
        self.result = 0

    async def live(self):
        if self.raced:
            started.append(self)
        self.task = asyncio.current_task()
        trace("%s starts%s", self.name, bindings())
        try:
            await self.run()
        except BaseException as error:
            trace("%s leaves %s", self.name, name_of(error))
            raise
        trace("%s leaves %d", self.name, self.result)
        return self.result

    def start(self, group=None):
        if self.task or self.raced or (group and not group.inner):
            return "absent"
        life = self.live()
        try:
            self.task = (group.inner if group else asyncio).create_task(life)
        except RuntimeError:
            life.close()
            return "ESHUTDOWN"
        started.append(self)

    def start_eagerly(self, group=None):
        with newer.eagerly(asyncio.get_running_loop()):
            return self.start(group)

    def cancel(self):
        return self.task.cancel() if self.task else "absent"

    async def park(self):
        self.parking = new_future()
        try:
            return await self.parking
        finally:
            self.parking = None

    def unpark(self, value):
        if not self.task:
            return "absent"
        if not self.parking or self.parking.done():
            return "EALREADY"
        self.parking.set_result(value)


# ---- instructions --------------------------------------------------------------------------


def word_of(value):
    return value if isinstance(value, str) else "0" if value is None else str(int(value))


async def trace_step(what, awaitable):
    """Await, and write `what` and the outcome to the trace. True is written as 0. A failure is raised again."""
    try:
        value = await awaitable
    except BaseException as error:
        trace("%s: %s", what, name_of(error))
        raise
    trace("%s: %s", what, word_of(None if value is True else value))


def trace_call(what, call, *args):
    """Like trace_step(), but for a call that does not wait. A failure is written to the trace, but not raised again."""
    try:
        word = word_of(call(*args))
    except asyncio.InvalidStateError:
        word = "EALREADY"
    except (asyncio.QueueEmpty, asyncio.QueueFull, QueueShutDown) as error:
        word = name_of(error)
    trace("%s: %s", what, word)


def futures_of(things):
    """Return the futures and the asyncio tasks of the started Tasks. Tasks that have not started are omitted."""
    futures = [thing.task if isinstance(thing, Task) else thing for thing in things]
    return [future for future in futures if future]


async def trace_wait(what, waiting, futures):
    """"WHAT: OUTCOME [STATES]"."""
    outcome = 0
    try:
        outcome = await waiting
    except BaseException as error:
        outcome = name_of(error)
        raise
    finally:
        trace("%s: %s [%s]", what, outcome, " ".join(map(state, futures)))


async def gather(what, return_exceptions, *things):
    futures = futures_of(things)

    async def waiting():
        await asyncio.gather(*futures, return_exceptions=return_exceptions)
        return 0

    await trace_wait(what, waiting(), futures)


async def wait(what, mode, seconds, *things):
    futures = futures_of(things)

    async def waiting():
        done, _ = await asyncio.wait(futures, timeout=seconds, return_when=mode)
        return len(done)

    if futures:
        await trace_wait(what, waiting(), futures)


async def as_completed(what, seconds, *things):
    """Print "gets STATE" for each future."""
    count = 0

    async def waiting():
        nonlocal count
        async for future in asyncio.as_completed(futures_of(things), timeout=seconds):
            trace("gets %s", state(future))
            count += 1
        return count

    await trace_step(what, waiting())


async def race(what, delay, *tasks):
    """Run a staggered race of those tasks that have not started. Write the outcome of the race to the trace, and then
    the result of each task."""
    works = [task for task in tasks if not task.task and not task.raced]
    failures, states = [], []

    async def run(task):
        try:
            return await task.live()
        except BaseException as error:
            failures.append(error)
            raise

    async def waiting():
        for task in works:
            task.raced = True
        runs = [functools.partial(run, task) for task in works]
        result, winner, errors = await staggered.staggered_race(runs, delay)
        states.extend(name_of(error) if error else str(result) for error in errors)
        if winner is None:
            raise failures[0]
        return result

    if works:
        try:
            await trace_step(what, waiting())
        finally:
            trace("raced: %s", " ".join(states))


def add_callback(name, future):
    callback = callbacks.setdefault(name, lambda f: trace_callback(name, f))
    future.add_done_callback(trace_callback)


def trace_callback(name, future):
    trace("callback %s %s%s", name, state(future), bindings())


def trace_mark(mark):
    trace("called %s%s", mark, bindings())


def remove_callback(name, future):
    return future.remove_done_callback(callbacks.get(name))


def call_soon(mark):
    handles[mark] = asyncio.get_running_loop().call_soon(trace_mark, mark)


def call_later(seconds, mark):
    loop = asyncio.get_running_loop()
    handles[mark] = loop.call_later(seconds, trace_mark, mark)


def call_at(when, mark):
    handles[mark] = asyncio.get_running_loop().call_at(when, trace_mark, mark)


def cancel_call(mark):
    return handles[mark].cancel() if mark in handles else "absent"


def living_tasks():
    living = asyncio.all_tasks()
    names = [task.name for task in started if task.task in living]
    return " ".join(sorted(names, key=lambda name: int(name[1:])))


def reschedule(scope, seconds):
    when = None if seconds is None else asyncio.get_running_loop().time() + seconds
    try:
        scope.inner.reschedule(when)
    except RuntimeError:
        return "ETIMEDOUT"


def release(lock):
    try:
        lock.release()
    except RuntimeError:
        return "EPERM"
    except ValueError:
        return "EOVERFLOW"


async def condition_wait(condition):
    return await condition.wait() if condition.locked() else "EPERM"


async def condition_wait_for(condition, event):
    if not event.is_set() and not condition.locked():
        return "EPERM"
    return int(await condition.wait_for(event.is_set))


def notify(condition, count):
    if not condition.locked():
        return "EPERM"
    condition.notify_all() if count is None else condition.notify(count)


def barrier_state(barrier):
    return "EPIPE" if barrier.broken else barrier.n_waiting


def task_done(queue):
    try:
        queue.task_done()
    except ValueError:
        return "EINVAL"


# ---- variables -----------------------------------------------------------------------------

variables = [contextvars.ContextVar(name, default=0) for name in ("v0", "v1")]
v0, v1 = variables


def bindings():
    """Return the variables of the current context that are not 0."""
    pairs = ((variable.name, variable.get()) for variable in variables)
    return "".join(f" {name}={value}" for name, value in pairs if value)


def set_variable(variable, value):
    variable.set(value)


class bind:
    def __init__(self, variable, value):
        self.variable, self.value = variable, value

    def __enter__(self):
        self.token = self.variable.set(self.value)

    def __exit__(self, *what):
        self.variable.reset(self.token)


# ---- blocks --------------------------------------------------------------------------------


class Group:
    """A TaskGroup that raises only its first failure, but prints all failures."""

    inner = None

    async def __aenter__(self):
        self.inner = newer.TaskGroup()
        await self.inner.__aenter__()
        return self

    def cancel(self):
        return self.inner.cancel() if self.inner else "absent"

    async def __aexit__(self, *what):
        errors = []
        try:
            return await self.inner.__aexit__(*what)
        except BaseExceptionGroup as several:
            errors = [name_of(error) for error in several.exceptions]
            raise several.exceptions[0] from None
        finally:
            self.inner = None
            trace("group over: %d failures %s", len(errors), " ".join(errors[:8]))


class Scope:
    """Like asyncio.timeout() or timeout_at(), but prints whether the timeout expired."""

    def __init__(self, inner):
        self.inner = inner

    async def __aenter__(self):
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *what):
        try:
            return await self.inner.__aexit__(*what)
        finally:
            trace("scope over: expired %d", self.inner.expired())


class traced_block:
    """with traced_block("t0 scope 2"): print the outcome of the block, as trace_step() does."""

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        pass

    def __exit__(self, kind, error, traceback):
        trace("%s: %s", self.what, "0" if error is None else name_of(error))


# ---- the driver ----------------------------------------------------------------------------


async def drive(tasks, locks, futures):
    """Start the first task, wait until all tasks have ended, and print the result of each task."""
    tasks[0].start()
    await asyncio.sleep(1000)
    while left := [task for task in started if not task.task.done()]:
        trace("driver cancels %s", " ".join(task.name for task in left))
        for task in left:
            task.cancel()
        for lock in locks:
            if lock.locked():
                lock.release()
        await asyncio.sleep(1000)
    for task in tasks:
        trace("%s ended %s", task.name, state(task.task) if task.task else "absent")
    for future in futures:
        trace("future ended %s", state(future))
        future.cancel()
    await asyncio.sleep(0)
