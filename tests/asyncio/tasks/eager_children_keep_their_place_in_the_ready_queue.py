"""An eager child that yields goes behind what was ready by then, before what comes later.

Since: 3.12
"""

from scenario import *


async def body(name):
    trace("%s begins", name)
    await asyncio.sleep(0)
    trace("%s goes on", name)


async def scenario():
    tasks = [asyncio.create_task(body("a")), eager_task(body("b")),
             asyncio.create_task(body("c")), eager_task(body("d"))]  # fmt: skip
    trace("spawned")
    await asyncio.gather(*tasks)
    trace("gathered")
