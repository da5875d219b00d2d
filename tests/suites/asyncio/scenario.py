"""Functions for scenarios in Python. scenario.h is the C counterpart.

    from scenario import *

    @scenario
    async def sleep_returns_after_its_delay():
        '''A description of the behaviour.'''
        trace("sleeps")
        trace("slept: %s", await outcome(asyncio.sleep(3)))

An async function runs as the main task of asyncio.run(). Other functions are called without a loop. Each file contains
the scenarios for one topic. The file is loaded once. Each scenario then runs in its own process, so scenarios do not
affect each other.

The scenarios run with CPython's asyncio, except for the changes in evened_out.py. Time is virtual, in whole
seconds.
"""

import asyncio
import contextlib
import contextvars
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../judge"))

import evened_out  # noqa: E402

__all__ = [
    "asyncio",
    "attempt",
    "contextvars",
    "eager_task",
    "Failure",
    "failures",
    "name_of",
    "new_future",
    "now",
    "outcome",
    "result_of",
    "scenario",
    "state",
    "trace_outcome",
    "trace_exception",
    "traced_group",
    "traced_timeout",
    "ticker",
    "trace",
    "turns",
    "VirtualLoop",
]

VirtualLoop = evened_out.VirtualLoop

scenarios = {}


def scenario(function):
    """Register the function as a scenario."""
    scenarios[function.__name__] = function
    return function


class Failure(Exception):
    """A failure with the name of an errno: raise Failure("EIO") corresponds to `return -EIO`."""


NAMES = [
    (asyncio.CancelledError, "ECANCELED"),
    (TimeoutError, "ETIMEDOUT"),
    (getattr(asyncio, "QueueShutDown", Failure), "ESHUTDOWN"),
    (asyncio.InvalidStateError, "EALREADY"),
    (asyncio.QueueEmpty, "EAGAIN"),
    (asyncio.QueueFull, "EAGAIN"),
    (getattr(asyncio, "BrokenBarrierError", Failure), "EPIPE"),
]


def name_of(error):
    """Return the errno that coil uses for this exception, or for the first exception of an exception group."""
    if type(error) is Failure:
        return error.args[0]
    if isinstance(error, ExceptionGroup):
        return name_of(error.exceptions[0])
    for kind, name in NAMES:
        if isinstance(error, kind):
            return name
    raise error  # an error in the scenario


def now():
    try:
        return int(asyncio.get_running_loop().time())
    except RuntimeError:
        loop = asyncio._get_running_loop()
        return int(loop.time()) if loop else 0


def trace(text, *args):
    print(now(), text % args if args else text)


async def outcome(awaitable):
    """Return the rc of the C version: the result as a number (0 for None), or the errno name of the exception."""
    try:
        return result_of(await awaitable)
    except BaseException as error:
        return name_of(error)


def attempt(call, *args):
    """Like outcome(), but for a call that does not wait, such as set_result() or put_nowait()."""
    try:
        return result_of(call(*args))
    except BaseException as error:
        return name_of(error)


async def trace_outcome(what, awaitable):
    """Write `what` and the outcome to the trace, and return the outcome."""
    try:
        value = await awaitable
    except BaseException as error:
        trace("%s: %s", what, name_of(error))
        raise
    trace("%s: %s", what, result_of(value))
    return value


@contextlib.asynccontextmanager
async def traced_group(what="group"):
    """Like TaskGroup(), but writes `what`, the outcome and the group's failures to the trace."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseException as error:
        trace("%s: %s", what, name_of(error))
        if isinstance(error, ExceptionGroup):
            trace("%s: failures %s", what, failures(error))
        raise
    trace("%s: 0", what)


@contextlib.asynccontextmanager
async def traced_timeout(what, delay):
    """Like asyncio.timeout(), but writes `what`, the outcome, and whether the timeout expired to the trace."""
    try:
        async with asyncio.timeout(delay) as scope:
            yield scope
    except BaseException as error:
        trace("%s: %s, expired %d", what, name_of(error), scope.expired())
        raise
    trace("%s: 0, expired %d", what, scope.expired())


def result_of(value):
    return str(int(value)) if isinstance(value, (int, bool)) else "0"


def failures(group):
    """Return the names of the exceptions of an exception group."""
    return " ".join(map(name_of, group.exceptions))


def state(future):
    """Return a text that describes a future's state or result."""
    if not future.done():
        return "EINPROGRESS"
    if future.cancelled():
        return "ECANCELED"
    if future.exception() is not None:
        return name_of(future.exception())
    return result_of(future.result())


def eager_task(coro, **options):
    """Create a task that begins at once, and runs until its first wait. Requires Python 3.12."""
    loop = asyncio.get_running_loop()
    return asyncio.Task(coro, loop=loop, eager_start=True, **options)

def trace_exception(loop, context):
    """An exception handler that prints its report: "MESSAGE: OUTCOME"."""
    error = context.get("exception")
    trace("%s: %s", context["message"], name_of(error) if error is not None else 0)


def new_future():
    return asyncio.get_running_loop().create_future()


async def turns(n):
    """Wait for n turns of the loop."""
    for _ in range(n):
        await asyncio.sleep(0)


async def ticker(n):
    """Print "turn 1", "turn 2" and so on, so that the trace shows in which turn something happens."""
    for turn in range(1, n + 1):
        trace("turn %d", turn)
        await asyncio.sleep(0)


# ---- running them --------------------------------------------------------------------------


def all_tasks_in_order(of):
    """Make asyncio cancel leftover tasks in the order of their names. asyncio.run() cancels them in the arbitrary order
    of a set."""

    def all_tasks(loop=None):
        return sorted(of(loop), key=lambda task: (len(task.get_name()), task.get_name()))

    return all_tasks


def load(path):
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), {"__name__": "scenario_file"})


def run(scenario):
    """Run one scenario, and print its trace."""
    try:
        if asyncio.iscoroutinefunction(scenario):
            with asyncio.Runner(loop_factory=VirtualLoop) as runner:
                result = runner.run(scenario())
        else:
            result = scenario()
    except BaseException as error:
        result = None
        print("ends: " + name_of(error))
    del result


def is_path(word):
    return word.endswith(".py")


def main():
    """scenario.py TOPIC.py... [NAME...]: print the traces of all scenarios, or of the named ones."""
    import gc
    import traceback

    sys.modules["scenario"] = sys.modules["__main__"]
    evened_out.install()
    asyncio.runners.tasks.all_tasks = all_tasks_in_order(asyncio.tasks.all_tasks)
    gc.disable()  # the trace must not depend on when a cycle is collected
    for path in filter(is_path, sys.argv[1:]):
        load(path)
    for name in [word for word in sys.argv[1:] if not is_path(word)] or scenarios:
        print("scenario " + name, flush=True)
        child = os.fork()
        if child == 0:
            try:
                run(scenarios[name])
            except BaseException:
                print("died: " + traceback.format_exc().splitlines()[-1])
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
