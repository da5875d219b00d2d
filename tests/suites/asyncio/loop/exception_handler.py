"""Debug mode, and what is reported to a loop's exception handler."""

import logging
import warnings

from scenario import *


async def debug_mode_worker(name):
    loop = asyncio.get_running_loop()
    for _ in range(3):
        trace("%s: debug %d", name, loop.get_debug())
        await asyncio.sleep(0)


@scenario
async def debug_mode_belongs_to_the_loop():
    """Debug mode is a property of the loop, and is off at first. Tasks and callbacks see the current mode."""
    loop = asyncio.get_running_loop()
    for mode in False, True, False:
        trace("was %d", loop.get_debug())
        loop.set_debug(mode)
        trace("is %d", loop.get_debug())
        loop.call_soon(lambda: trace("callback: debug %d", loop.get_debug()))
        await asyncio.gather(debug_mode_worker("one"), debug_mode_worker("two"))
        await asyncio.sleep(1)


class Reports(logging.Handler):
    def emit(self, record):
        text = record.getMessage()
        if not text.startswith("Executing "):
            return
        if "<Task " in text:
            trace("reported: a step of %s", text.split("name='")[1].split("'")[0])
        else:
            trace("reported: a callback")


async def debug_times_worker():
    trace("worker begins")
    await asyncio.sleep(0)
    trace("worker goes on")
    await asyncio.sleep(2)
    trace("worker ends")


@scenario
async def debug_times_each_step_and_callback():
    """In debug mode, each slow step of a task and each slow callback is reported with its kind and name after it has
    ended. The limit is 0 in this scenario, so all of them are slow."""
    loop = asyncio.get_running_loop()
    logger = logging.getLogger("asyncio")
    logger.addHandler(Reports())
    logger.propagate = False
    asyncio.current_task().set_name("main")
    loop.set_debug(True)
    await asyncio.sleep(0)  # asyncio treats it as an internal callback
    loop.slow_callback_duration = 0
    task = asyncio.create_task(debug_times_worker(), name="worker")
    loop.call_soon(trace, "called soon")
    loop.call_later(1, trace, "called later")
    await task
    loop.slow_callback_duration = 1
    await asyncio.sleep(0)
    trace("what is fast is not reported")
    await asyncio.sleep(1)
    loop.slow_callback_duration = 0
    loop.set_debug(False)
    await asyncio.sleep(0)
    trace("nothing is reported any more")
    await asyncio.sleep(1)


def fail(loop, name):
    trace("%s: %s", name, "none" if loop.get_exception_handler() is None else "some")
    loop.call_exception_handler({"message": name})


@scenario
def exception_handler_belongs_to_its_loop():
    """An exception handler belongs to one loop. The next loop starts without a handler."""
    for i, name in enumerate(("first", "second", "third")):
        loop = VirtualLoop()
        if i != 1:
            loop.set_exception_handler(trace_exception)
        loop.call_soon(fail, loop, name)
        loop.call_soon(loop.stop)
        loop.run_forever()
        loop.close()


def other(loop, context):
    trace("other: %s", context["message"])


def exception_handler_is_asked_name(handler):
    return {None: "none", trace_exception: "trace_exception", other: "other"}[handler]


@scenario
async def exception_handler_is_asked_for_and_replaced():
    """A new loop uses the default exception handler. A handler that is set on the loop is called until it is replaced
    or removed."""
    loop = asyncio.get_running_loop()
    for handler in (None, trace_exception, other, None, trace_exception):
        loop.set_exception_handler(handler)
        trace("is: %s", exception_handler_is_asked_name(loop.get_exception_handler()))
        if handler is not None:
            loop.call_exception_handler({"message": "hello"})


def trace_handler_call(where):
    loop = asyncio.get_running_loop()
    trace("%s: before", where)
    loop.call_exception_handler({"message": "hello", "exception": Failure("EIO")})
    trace("%s: after", where)


@scenario
async def exception_handler_is_called_at_once():
    """If a task or callback reports an error, the handler is called at once, without a turn of the loop."""
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(trace_exception)
    loop.call_soon(trace_handler_call, "callback")
    trace_handler_call("task")
    await turns(1)
    loop.call_later(1, trace_handler_call, "timer")
    await asyncio.sleep(2)


def exception_handler_is_told_of_leftovers_handler(loop, context):
    trace("%s: %s", context["task"].get_name(), name_of(context["exception"]))


async def leftover(seconds):
    try:
        await asyncio.sleep(9)
    except asyncio.CancelledError:
        await asyncio.sleep(seconds)
        trace("%d fails", seconds)
        raise Failure("EIO") from None


async def asks(task):
    try:
        await asyncio.sleep(9)
    except asyncio.CancelledError:
        await trace_outcome("asked", task)


@scenario
async def exception_handler_is_told_of_leftovers_that_fail():
    """Tasks that have not ended when the main task ends are cancelled. When all of them have ended, their failures are
    reported in the order of creation, even those that another task has retrieved."""
    asyncio.get_running_loop().set_exception_handler(exception_handler_is_told_of_leftovers_handler)
    slow = asyncio.create_task(leftover(2), name="slow")
    asyncio.create_task(leftover(1), name="swift")
    asyncio.create_task(asks(slow), name="task-asks")
    await asyncio.sleep(1)
    trace("the main task ends")


async def exception_handler_is_told_of_tasks_body(name):
    trace("%s begins", name)


@scenario
def exception_handler_is_told_of_tasks_that_never_began():
    """If a task without references has not ended when its loop is destroyed, it is reported, because it can never
    end."""
    warnings.simplefilter("ignore")
    loop = VirtualLoop()
    loop.set_exception_handler(trace_exception)
    loop.run_until_complete(loop.create_task(exception_handler_is_told_of_tasks_body("first")))
    loop.create_task(exception_handler_is_told_of_tasks_body("second"))
    loop.create_task(exception_handler_is_told_of_tasks_body("third"))
    trace("closing")
    loop.close()
    trace("closed")


def exception_handler_may_ask_handler(loop, context):
    trace_exception(loop, context)
    loop.default_exception_handler(context)
    trace("printed")


async def body():
    raise Failure("EIO")


@scenario
async def exception_handler_may_ask_the_default_one():
    """A handler may call the default handler, which prints the report and returns."""
    asyncio.get_running_loop().set_exception_handler(exception_handler_may_ask_handler)
    asyncio.create_task(body())
    await turns(3)
    trace("end")


async def clean_up():
    trace("clean up: begin")
    await asyncio.sleep(1)
    trace("clean up: end")


def exception_handler_may_start_handler(loop, context):
    trace_exception(loop, context)
    loop.call_soon(trace, "called soon")
    loop.create_task(clean_up())


@scenario
async def exception_handler_may_start_a_task():
    """A handler may start a task and schedule callbacks, which run in later turns."""
    asyncio.get_running_loop().set_exception_handler(exception_handler_may_start_handler)
    asyncio.create_task(body())
    await ticker(4)
    await asyncio.sleep(2)


exception_handler_runs_name = contextvars.ContextVar("name", default="nobody")


def exception_handler_runs_handler(loop, context):
    trace("%s in the context of %s", context["message"], exception_handler_runs_name.get())


async def exception_handler_runs_body(who):
    exception_handler_runs_name.set(who)
    raise Failure("EIO")


@scenario
async def exception_handler_runs_in_the_context_of_the_task():
    """A handler that is called for a task runs in the task's context, even if the report is caused by other code that
    releases the task.

    Since: 3.12
    """
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(exception_handler_runs_handler)
    held = asyncio.create_task(exception_handler_runs_body("Ada"))
    asyncio.create_task(exception_handler_runs_body("Grace"))
    await turns(2)
    exception_handler_runs_name.set("main")
    del held
    loop.call_exception_handler({"message": "hello"})
    trace("here: %s", exception_handler_runs_name.get())
