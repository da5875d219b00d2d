"""run(), runners, and the effect of SIGINT."""

import signal

from scenario import *


def take_interrupts():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupt_cancels_run(main):
    try:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return result_of(runner.run(main))
    except KeyboardInterrupt:
        return "EINTR"
    except asyncio.CancelledError:
        return "ECANCELED"


futures = []


async def interrupt_cancels_main():
    futures.append(new_future())
    asyncio.get_running_loop().call_later(2, signal.raise_signal, signal.SIGINT)
    try:
        await futures[0]
    except asyncio.CancelledError:
        trace("main is cancelled, future: %s", state(futures[0]))
        raise


@scenario
def interrupt_cancels_what_main_awaits():
    """An interrupt cancels the main task, and the future that it awaits."""
    take_interrupts()
    trace("run: %s", interrupt_cancels_run(interrupt_cancels_main()))


def interrupt_is_taken_run(main):
    try:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return result_of(runner.run(main))
    except KeyboardInterrupt:
        return "EINTR"
    except asyncio.CancelledError:
        return "ECANCELED"


async def interrupt_is_taken_main(interrupted):
    if interrupted:
        asyncio.get_running_loop().call_later(1, signal.raise_signal, signal.SIGINT)
    await trace_outcome("main", asyncio.sleep(2))
    return 3


def attempt_run(runner, main):
    try:
        trace("run: %d", runner.run(main))
    except KeyboardInterrupt:
        trace("run: EINTR")


@scenario
def interrupt_is_taken_anew_in_each_run():
    """Each run of a runner may be interrupted. Without an interrupt, a run ends as usual."""
    take_interrupts()
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        attempt_run(runner, interrupt_is_taken_main(True))
        attempt_run(runner, interrupt_is_taken_main(True))
        attempt_run(runner, interrupt_is_taken_main(False))


def interrupt_of_a_main_run(main):
    try:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return result_of(runner.run(main))
    except KeyboardInterrupt:
        return "EINTR"
    except asyncio.CancelledError:
        return "ECANCELED"


async def canceller(task):
    await asyncio.sleep(1)
    trace("cancel: %d", task.cancel())
    signal.raise_signal(signal.SIGINT)


async def interrupt_of_a_main_main():
    asyncio.create_task(canceller(asyncio.current_task()))
    await trace_outcome("main", asyncio.sleep(10))


@scenario
def interrupt_of_a_main_that_is_cancelled_too():
    """If another request has also cancelled the main task, the run ends with a cancellation instead of an interrupt."""
    take_interrupts()
    trace("run: %s", interrupt_of_a_main_run(interrupt_of_a_main_main()))


def interrupt_reaches_run(main):
    try:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return result_of(runner.run(main))
    except KeyboardInterrupt:
        return "EINTR"
    except asyncio.CancelledError:
        return "ECANCELED"


async def interrupt_reaches_main():
    asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
    try:
        while True:
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        trace("main is cancelled")
        raise


@scenario
def interrupt_reaches_a_main_that_yields():
    """An interrupt cancels a main task that only yields and never waits."""
    take_interrupts()
    trace("run: %s", interrupt_reaches_run(interrupt_reaches_main()))


def interrupt_that_main_run(main):
    try:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return result_of(runner.run(main))
    except KeyboardInterrupt:
        return "EINTR"
    except asyncio.CancelledError:
        return "ECANCELED"


async def interrupt_that_main_main():
    asyncio.get_running_loop().call_later(1, signal.raise_signal, signal.SIGINT)
    trace("main: %s", await outcome(asyncio.sleep(10)))
    await asyncio.sleep(2)
    trace("main has cleaned up, requests: %d", asyncio.current_task().cancelling())
    return 7


@scenario
def interrupt_that_main_catches_is_its_affair():
    """If the main task catches the cancellation that an interrupt caused, run() returns the task's result."""
    take_interrupts()
    trace("run: %s", interrupt_that_main_run(interrupt_that_main_main()))


def run_cancels_run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def run_cancels_leftover(seconds):
    trace("leftover: %s", await outcome(asyncio.sleep(10)))
    await asyncio.sleep(seconds)
    trace("leftover of %d s has cleaned up", seconds)


async def run_cancels_main():
    asyncio.create_task(run_cancels_leftover(1))
    asyncio.create_task(run_cancels_leftover(3))
    await asyncio.sleep(2)
    trace("main ends")
    return 123


@scenario
def run_cancels_what_main_leaves_behind():
    """Tasks that have not ended when the main task ends are cancelled and awaited."""
    trace("run: %d", run_cancels_run(run_cancels_main()))


def run_fails_run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def run_fails_main(name):
    await asyncio.sleep(1)
    trace("main fails")
    raise Failure(name)


@scenario
def run_fails_with_mains_failure():
    """run() fails with the failure of the main task."""
    trace("run: %s", attempt(run_fails_run, run_fails_main("EIO")))
    trace("run: %s", attempt(run_fails_run, run_fails_main("EPERM")))


def run_lets_callbacks_run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def again(count):
    trace("call %d", count)
    asyncio.get_running_loop().call_soon(again, count + 1)


async def run_lets_callbacks_main():
    asyncio.get_running_loop().call_soon(again, 1)
    await asyncio.sleep(0)
    return 123


@scenario
def run_lets_callbacks_go_on_for_a_few_turns():
    """If callbacks schedule each other endlessly, they are called only for a few more turns after the main task has
    ended."""
    trace("run: %d", run_lets_callbacks_run(run_lets_callbacks_main()))


def run_lets_what_is_spawned_run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def later():
    for i in range(1, 6):
        await asyncio.sleep(0)
        trace("later: %d", i)


async def run_lets_what_is_spawned_leftover():
    try:
        await asyncio.sleep(10)
    finally:
        trace("leftover spawns")
        asyncio.create_task(later())


async def run_lets_what_is_spawned_main():
    asyncio.create_task(run_lets_what_is_spawned_leftover())
    await asyncio.sleep(1)
    return 123


@scenario
def run_lets_what_is_spawned_at_the_end_go_on_for_six_turns():
    """When a leftover task is cancelled at the end, it may spawn another task, which is not cancelled but runs only for
    six turns."""
    trace("run: %d", run_lets_what_is_spawned_run(run_lets_what_is_spawned_main()))


def has_loop():
    return asyncio._get_running_loop() is not None


def run_makes_run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def run_makes_main():
    trace("main begins, loop: %d", has_loop())
    await asyncio.sleep(2)
    trace("main ends")


@scenario
def run_makes_a_loop_of_its_own_each_time():
    """Each run creates a new loop with a new clock. A loop exists only during a run."""
    for _ in range(2):
        trace("loop: %d", has_loop())
        run_makes_run(run_makes_main())
    trace("loop: %d", has_loop())


def run_of_a_main_run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def run_of_a_main_main():
    asyncio.current_task().cancel()
    trace("main waits")
    await asyncio.sleep(1)
    trace("never printed")


@scenario
def run_of_a_main_that_cancels_itself():
    """If the main task cancels itself, run() ends with a cancellation, not with an interrupt."""
    trace("run: %s", attempt(run_of_a_main_run, run_of_a_main_main()))


def run_reports_run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def run_reports_leftover():
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        trace("leftover fails")
        raise Failure("EIO")


reports = []


def handler(loop, context):
    reports.append("%s of %s" % (name_of(context["exception"]), context["task"].get_name()))


async def run_reports_main():
    asyncio.get_running_loop().set_exception_handler(handler)
    asyncio.create_task(run_reports_leftover(), name="leftover")
    await asyncio.sleep(1)
    return 123


@scenario
def run_reports_what_fails_as_it_is_cancelled():
    """If a leftover task fails when it is cancelled at the end, its failure is reported, but run() returns the result
    of the main task."""
    trace("run: %d", run_reports_run(run_reports_main()))
    trace("reported: %s", ", ".join(reports))


def run_returns_run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def run_returns_main():
    await asyncio.sleep(1)
    trace("main ends")
    return 42


@scenario
def run_returns_what_main_returned():
    """run() returns the result of the main task."""
    trace("run: %d", run_returns_run(run_returns_main()))


async def fail(name):
    await asyncio.sleep(1)
    trace("fails")
    raise Failure(name)


async def cancel():
    asyncio.current_task().cancel()
    await asyncio.sleep(1)


async def work():
    await asyncio.sleep(1)
    return 5


@scenario
def runner_goes_on_after_a_failed_run():
    """After a failed or cancelled run, the runner can run again."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        trace("run: %s", attempt(runner.run, fail("EIO")))
        trace("run: %s", attempt(runner.run, cancel()))
        trace("run: %s", attempt(runner.run, work()))


@scenario
def runner_is_closed_twice():
    """Closing a runner that never ran closes its loop. A second close has no effect."""
    runner = asyncio.Runner(loop_factory=VirtualLoop)
    loop = runner.get_loop()
    trace("loop: %d", loop is not None)
    runner.close()
    trace("closed: %d", loop.is_closed())
    runner.close()
    trace("closed again: %d", loop.is_closed())


color = contextvars.ContextVar("color", default="none")


async def swap(value):
    old = color.get()
    await asyncio.sleep(1)
    color.set(value)
    trace("was %s, is %s", old, color.get())


@scenario
def runner_keeps_its_context():
    """A context variable that is set during one run of a runner is visible in the next run, but not in the caller."""
    color.set("white")
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(swap("red"))
        runner.run(swap("green"))
        trace("caller: %s", color.get())
        runner.run(swap("blue"))


async def runner_keeps_tasks_leftover():
    try:
        for i in range(9):
            trace("leftover: %d", i)
            await asyncio.sleep(3)
    except asyncio.CancelledError:
        trace("leftover is cancelled")
        raise


async def begin():
    asyncio.create_task(runner_keeps_tasks_leftover())
    await asyncio.sleep(2)
    trace("first run ends")


async def go_on():
    trace("second run")
    await asyncio.sleep(5)


@scenario
def runner_keeps_tasks_between_runs():
    """Tasks that have not ended at the end of a run continue in the next run, and are cancelled when the runner is
    closed."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(begin())
        trace("between")
        runner.run(go_on())
        trace("closing")
    trace("closed")


async def trace_text(text):
    trace(text)
    await asyncio.sleep(1)


@scenario
def runner_runs_again_and_again():
    """A runner runs several main tasks one after another on the same loop, without resetting its clock."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        runner.run(trace_text("first"))
        runner.run(trace_text("second"))
        trace("same loop: %d", runner.get_loop() is loop)
        runner.run(trace_text("third"))
    trace("closed: %d", loop.is_closed())


@scenario
def runner_that_was_closed_runs_no_more():
    """Running a closed runner is an error, and the main task does not begin."""
    runner = asyncio.Runner(loop_factory=VirtualLoop)
    runner.run(trace_text("before"))
    runner.close()
    coro = trace_text("after")
    try:
        runner.run(coro)
    except RuntimeError:
        trace("refused")
        coro.close()
    trace("at the end")
