"""A failure that is awaited again and again has, each time, one await in its traceback."""

from scenario import *


async def body():
    raise Failure("EIO")


async def scenario():
    task = asyncio.create_task(body())
    for i in range(5):
        try:
            await task
        except Failure as error:
            awaits, traceback = 0, error.__traceback__
            while traceback is not None:
                awaits += traceback.tb_frame.f_code.co_name == "scenario"
                traceback = traceback.tb_next
            trace("%d: %s, awaits: %d", i, name_of(error), awaits)
