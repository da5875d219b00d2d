"""Once a child has failed nobody can start another, neither the siblings as they are
cancelled nor the body.
"""

from scenario import *


async def failing():
    await asyncio.sleep(1)
    raise Failure("EIO")


def try_to_start(who, group):
    coro = failing()
    try:
        group.create_task(coro)
        trace("%s: started", who)
    except RuntimeError:
        coro.close()
        trace("%s: refused", who)


async def sibling(group):
    try:
        await tell("sibling", asyncio.sleep(10))
    finally:
        try_to_start("sibling", group)


async def owner():
    async with telling_group() as group:
        group.create_task(failing())
        group.create_task(sibling(group))
        try:
            await tell("body", asyncio.sleep(10))
        finally:
            try_to_start("body", group)


async def scenario():
    trace("owner: %s", await outcome(owner()))
