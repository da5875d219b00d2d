"""Run a coroutine under asyncio's loop, or under uvloop if the program is started with --uvloop."""

import asyncio
import sys


def run(main):
    factory = None
    if '--uvloop' in sys.argv:
        import uvloop
        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)
