"""What scenarios that the judge has written use besides scenario.py; judged.h is the same in C.

A program of the judge's is tasks that start each other, and a driver: whoever is left after
1000 seconds, and every 1000 after that, is cancelled in the order of starting, and what is
locked is unlocked. What a task does is a line of the trace when it is over.
"""

import asyncio

from scenario import *

QueueShutDown = getattr(asyncio, "QueueShutDown", Failure)

started = []
callbacks, handles = {}, {}


class Task:
    """A task of the program, before it is started and after."""

    def __init__(self, run):
        self.run, self.name = run, run.__name__
        self.task = self.parking = None
        self.result = 0

    async def live(self):
        trace("%s starts", self.name)
        try:
            await self.run()
        except BaseException as error:
            trace("%s leaves %s", self.name, name_of(error))
            raise
        trace("%s leaves %d", self.name, self.result)
        return self.result

    def start(self, group=None):
        if self.task or (group and not group.inner):
            return "absent"
        life = self.live()
        try:
            self.task = (group.inner if group else asyncio).create_task(life)
        except RuntimeError:
            life.close()
            return "ESHUTDOWN"
        started.append(self)

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


async def told(what, awaitable):
    """"WHAT: OUTCOME" in the trace; True counts as nothing. A failure goes on."""
    try:
        value = await awaitable
    except BaseException as error:
        trace("%s: %s", what, name_of(error))
        raise
    trace("%s: %s", what, word_of(None if value is True else value))


def did(what, call, *args):
    """The same for a call that does not wait; a failure is a word."""
    try:
        word = word_of(call(*args))
    except asyncio.InvalidStateError:
        word = "EALREADY"
    except (asyncio.QueueEmpty, asyncio.QueueFull, QueueShutDown) as error:
        word = name_of(error)
    trace("%s: %s", what, word)


def futures_of(things):
    """Futures, of futures and of tasks that have started."""
    futures = [thing.task if isinstance(thing, Task) else thing for thing in things]
    return [future for future in futures if future]


async def told_of(what, waiting, futures):
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

    await told_of(what, waiting(), futures)


async def wait(what, mode, seconds, *things):
    futures = futures_of(things)

    async def waiting():
        done, _ = await asyncio.wait(futures, timeout=seconds, return_when=mode)
        return len(done)

    if futures:
        await told_of(what, waiting(), futures)


def add_callback(name, future):
    say = callbacks.setdefault(name, lambda f: trace("callback %s %s", name, state(f)))
    future.add_done_callback(say)


def remove_callback(name, future):
    return future.remove_done_callback(callbacks.get(name))


def call_soon(mark):
    handles[mark] = asyncio.get_running_loop().call_soon(trace, f"called {mark}")


def call_later(seconds, mark):
    loop = asyncio.get_running_loop()
    handles[mark] = loop.call_later(seconds, trace, f"called {mark}")


def call_at(when, mark):
    handles[mark] = asyncio.get_running_loop().call_at(when, trace, f"called {mark}")


def cancel_call(mark):
    return handles[mark].cancel() if mark in handles else "absent"


def living_tasks():
    living = asyncio.all_tasks()
    return " ".join(task.name for task in started if task.task in living)


def reschedule(scope, seconds):
    when = None if seconds is None else asyncio.get_running_loop().time() + seconds
    try:
        scope.inner.reschedule(when)
    except RuntimeError:
        return "EINVAL"


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


# ---- blocks --------------------------------------------------------------------------------


class Group:
    """A TaskGroup that fails with the first failure in it, and says what failed."""

    inner = None

    async def __aenter__(self):
        self.inner = asyncio.TaskGroup()
        await self.inner.__aenter__()
        return self

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
    """asyncio.timeout() or timeout_at(), which says whether it expired."""

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


class telling:
    """with telling("t0 scope 2"): what came of the block, as told() says it."""

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        pass

    def __exit__(self, kind, error, traceback):
        trace("%s: %s", self.what, "0" if error is None else name_of(error))


# ---- the driver ----------------------------------------------------------------------------


async def drive(tasks, locks, futures):
    """Start the first; come back when all have ended, and say how."""
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
