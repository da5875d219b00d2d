"""A runner that was closed runs nothing: an error, and the body is not called."""

from scenario import *


async def say(text):
    trace(text)
    await asyncio.sleep(1)


def scenario():
    runner = asyncio.Runner(loop_factory=VirtualLoop)
    runner.run(say("before"))
    runner.close()
    coro = say("after")
    try:
        runner.run(coro)
    except RuntimeError:
        trace("refused")
        coro.close()
    trace("at the end")
