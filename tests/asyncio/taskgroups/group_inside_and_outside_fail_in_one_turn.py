"""Both groups of a task fail in the same turn: the inner one gives its failure, the outer
one's request stays until its own exit.

Since: 3.13
"""

from scenario import *


async def child(error):
    await asyncio.sleep(0)
    raise Failure(error)


def count(where):
    trace("%s: cancelling %d", where, asyncio.current_task().cancelling())


async def scenario():
    try:
        async with telling_group("outer") as outer:
            try:
                async with telling_group("inner") as inner:
                    inner.create_task(child("EIO"))
                    outer.create_task(child("EPROTO"))
            except ExceptionGroup:
                count("between")
    except ExceptionGroup:
        count("after")
