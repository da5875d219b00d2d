"""What is reported reaches the handler within the call, in a task and in a callback; nothing waits for a
turn."""

from scenario import *


def tell_all(where):
    loop = asyncio.get_running_loop()
    trace("%s: before", where)
    loop.call_exception_handler({"message": "hello", "exception": Failure("EIO")})
    trace("%s: after", where)


async def scenario():
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(tell_exception)
    loop.call_soon(tell_all, "callback")
    tell_all("task")
    await turns(1)
    loop.call_later(1, tell_all, "timer")
    await asyncio.sleep(2)
