"""What does not wait takes items and puts them in as what waits does."""

from scenario import *

q = asyncio.Queue()


async def scenario():
    asyncio.create_task(ticker(1))
    for item in 7, 5:
        trace("put: %s, %d in it", attempt(q.put_nowait, item), q.qsize())
    for _ in range(2):
        trace("get: %s, %d in it", attempt(q.get_nowait), q.qsize())
