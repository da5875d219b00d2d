"""A runner runs one main after the other, on one loop, whose clock goes on."""

from scenario import *


async def say(text):
    trace(text)
    await asyncio.sleep(1)


def scenario():
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        loop = runner.get_loop()
        runner.run(say("first"))
        runner.run(say("second"))
        trace("same loop: %d", runner.get_loop() is loop)
        runner.run(say("third"))
    trace("closed: %d", loop.is_closed())
