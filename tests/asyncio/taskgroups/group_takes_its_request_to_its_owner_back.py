"""A child's failure cancels the owner, which counts as a request in the body, and no more
after the exit.
"""

from scenario import *


async def child():
    await asyncio.sleep(0)
    raise Failure("EIO")


def count(where):
    trace("%s: cancelling %d", where, asyncio.current_task().cancelling())


async def scenario():
    try:
        async with telling_group() as group:
            group.create_task(child())
            count("body")
            try:
                await tell("body", asyncio.sleep(10))
            finally:
                count("cancelled body")
    except ExceptionGroup:
        count("after")
    await tell("sleep", asyncio.sleep(1))
