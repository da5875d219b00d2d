"""Only failures are reported: not a result that nobody asked for, nor one that somebody did, nor a
future that is cancelled, or pending for ever."""

from scenario import *


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    pending, result, asked, cancelled = [new_future() for _ in range(4)]
    result.set_result(42)
    asked.set_result(43)
    cancelled.cancel()
    trace("asked: %s", state(asked))
    await turns(1)
    del pending
    trace("pending: gone")
    del result
    trace("result: gone")
    del asked
    trace("asked: gone")
    del cancelled
    trace("cancelled: gone")
