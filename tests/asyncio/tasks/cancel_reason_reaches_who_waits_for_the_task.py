"""The reason a task is cancelled with is seen inside it, and by whoever waited for it."""

from scenario import *


def reason_of(task):
    try:
        task.result()
    except asyncio.CancelledError as error:
        return error.args[0] if error.args else "none"


async def body():
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError as error:
        trace("inside: %s", error.args[0] if error.args else "none")
        raise


async def scenario():
    for arguments in ("time to go home",), ():
        task = asyncio.create_task(body())
        await turns(1)
        task.cancel(*arguments)
        done, _ = await asyncio.wait([task])
        trace("outside: %d done, %s", len(done), reason_of(task))
