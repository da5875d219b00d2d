"""In debug mode each step of a task and each callback that takes too long is reported
when it has ended, by its kind and name; here, whatever takes no less than no time."""

import logging

from scenario import *


class Reports(logging.Handler):
    def emit(self, record):
        text = record.getMessage()
        if not text.startswith("Executing "):
            return
        if "<Task " in text:
            trace("reported: a step of %s", text.split("name='")[1].split("'")[0])
        else:
            trace("reported: a callback")


async def worker():
    trace("worker begins")
    await asyncio.sleep(0)
    trace("worker goes on")
    await asyncio.sleep(2)
    trace("worker ends")


async def scenario():
    loop = asyncio.get_running_loop()
    logger = logging.getLogger("asyncio")
    logger.addHandler(Reports())
    logger.propagate = False
    asyncio.current_task().set_name("main")
    loop.set_debug(True)
    await asyncio.sleep(0)  # which it takes for something of its own
    loop.slow_callback_duration = 0
    task = asyncio.create_task(worker(), name="worker")
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
