"""A failure that wait() had to look at is not reported; one that ended it by being the last is."""

from scenario import *


async def scenario():
    asyncio.get_running_loop().set_exception_handler(tell_exception)
    modes = [("all", asyncio.ALL_COMPLETED), ("first", asyncio.FIRST_COMPLETED),
             ("failure", asyncio.FIRST_EXCEPTION)]  # fmt: skip
    for name, mode in modes:
        for n in 1, 2:
            futures = [new_future() for _ in range(n)]
            futures[0].set_exception(Failure("EIO"))
            done, _ = await asyncio.wait(futures, return_when=mode, timeout=1)
            trace("%s of %d: %d done", name, n, len(done))
            futures = done = _ = None
