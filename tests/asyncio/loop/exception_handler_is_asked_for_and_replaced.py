"""A loop has no exception handler but the default; one that is set is called until it is replaced,
or taken back."""

from scenario import *


def other(loop, context):
    trace("other: %s", context["message"])


def name(handler):
    return {None: "none", tell_exception: "tell_exception", other: "other"}[handler]


async def scenario():
    loop = asyncio.get_running_loop()
    for handler in (None, tell_exception, other, None, tell_exception):
        loop.set_exception_handler(handler)
        trace("is: %s", name(loop.get_exception_handler()))
        if handler is not None:
            loop.call_exception_handler({"message": "hello"})
